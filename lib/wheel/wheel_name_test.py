"""Names of wheels are valid (PEP 440, PEP 427), and satisfy what the names of the old wheel did."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.utils import parse_wheel_filename
from packaging.version import Version

from lib.wheel.wheel_name import WheelName, read_name, sortable_label, with_local

NUMBERS = st.one_of(st.integers(0, 11), st.sampled_from((20251021, 20261128)))
#: Commits, dates and words, as builds of SDKs have them.
LOCALS = st.lists(st.sampled_from(("gefed3c3", "g0123456", "20261128", "bkc", "rocm7", "0", "10", "9")), max_size=3)
#: Versions that differ in few places, so that pairs decide by each of them.
VERSIONS = st.builds(
    "{}{}{}{}{}{}".format,
    st.sampled_from(("", "", "", "1!", "12!", "2!")),
    st.sampled_from(("7", "7.9", "7.10", "7.10.0", "7.10.0.0", "7.10.0.1", "7.10.1", "7.10.0.0.1", "10.1.0")),
    st.one_of(st.just(""), st.builds("{}{}".format, st.sampled_from(("a", "b", "rc")), NUMBERS)),
    st.one_of(st.just(""), st.builds(".post{}".format, NUMBERS)),
    st.one_of(st.just(""), st.builds(".dev{}".format, NUMBERS)),
    LOCALS.map(lambda parts: "+" + ".".join(parts) if parts else ""),
).map(Version)


@given(VERSIONS, VERSIONS, st.sampled_from(("", ".gfx942", ".gfx110x.all", ".gfx90a")))
def test_labels_sort_as_versions_do(one: Version, other: Version, gpu: str) -> None:
    labels = [Version(f"1.0+{sortable_label('sdk', version)}{gpu}") for version in (one, other)]
    assert (labels[0] < labels[1], labels[0] == labels[1]) == (one < other, one == other)


@given(VERSIONS, VERSIONS, st.sampled_from(("gfx942", "gfx1100", "host")))
def test_split_wheels_sort_as_the_fat_ones_do(one: Version, other: Version, label: str) -> None:
    """A word behind another local version is nothing that is newer: `+rocm7.debug`."""
    one, other = sorted((one, other))
    thin = [with_local(wheel(str(version)), label).version for version in (one, other)]
    more = (other.local or "").split(".")[len((one.local or "").split(".")) if one.local else 0 :]
    if Version(one.public) != Version(other.public) or not any(
        part.isalnum() and not part.isdigit() for part in more[:1]
    ):
        assert one == other or thin[0] < thin[1]
    assert one < thin[0]


def test_labels_of_the_versions_of_a_release() -> None:
    versions = {
        "7.10.0.dev0": "sdk.7.10.0.dev.0",
        "7.10.0.dev0+20251021.gefed3c3": "sdk.7.10.0.dev.0.local.20251021.local.gefed3c3",
        "7.10.0a20251021": "sdk.7.10.0.pre.a.20251021.0",
        "7.10.0rc2": "sdk.7.10.0.pre.rc.2.0",
        "7.10.0": "sdk.7.10.0.0",
        "7.10.0.post1": "sdk.7.10.0.0.post.1.0",
        "10.1": "sdk.10.1.0.0",
        "1!7.10.0": "sdk0001.7.10.0.0",
    }
    assert {version: sortable_label("sdk", Version(version)) for version in versions} == versions
    assert all(Version(f"1+{one}") < Version(f"1+{other}") for one, other in pairwise(versions.values()))


def wheel(version: str = "1.0", tags: str = "cp311-cp311-linux_x86_64") -> WheelName:
    return read_name(f"My_Acme-{version}-{tags}.whl", f"my_acme-{version}.dist-info", Version(version))


def test_names_are_read_and_written_as_they_were() -> None:
    assert wheel().filename == "My_Acme-1.0-cp311-cp311-linux_x86_64.whl"
    assert (wheel().dist_info, wheel("1.0", "2-py3-none-any").tags) == ("my_acme-1.0.dist-info", "2-py3-none-any")


@pytest.mark.parametrize(
    ("version", "label", "new"),
    [
        ("1.0", "gfx942", "1.0+gfx942"),
        ("2.0+rocm7.1", "gfx942", "2.0+rocm7.1.gfx942"),
        ("1!2.0rc1", "gfx110x-all", "1!2.0rc1+gfx110x.all"),
    ],
)
def test_a_complete_wheel_has_a_local_version(version: str, label: str, new: str) -> None:
    name = with_local(wheel(version), label)
    assert str(parse_wheel_filename(name.filename)[1]) == new
    assert name.dist_info == f"my_acme-{new}.dist-info"
    assert name.version > Version(version)
    assert Requirement(f"my-acme=={Version(version).public}").specifier.contains(name.version)


def test_files_whose_directory_has_the_version_move() -> None:
    old, new = wheel(), with_local(wheel(), "gfx942")
    moved = {
        "my_acme-1.0.dist-info/licenses/a-1.0.dist-info/x": "my_acme-1.0+gfx942.dist-info/licenses/a-1.0.dist-info/x",
        "my_acme-1.0.data/scripts/x": "my_acme-1.0+gfx942.data/scripts/x",
        "My-Acme-1.0.data/scripts/x": "my_acme-1.0+gfx942.data/scripts/x",
        "my_acme/my_acme-1.0.data/x": "my_acme/my_acme-1.0.data/x",
        "weights.data/x": "weights.data/x",
    }
    assert {path: new.path_from(path, old) for path in moved} == moved
