"""What `check` finds, each planted, and what `add` refuses for the same reasons."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from develop.testing.channel_sample import LINUX, NOW, MemoryPlace, build, sdist, wheel, write
from lib.common.command import FoundError
from wheels.channel.change import change, read_channel
from wheels.channel.check import check
from wheels.channel.complaints import complaints_about
from wheels.channel.local_files import LocalFile, read_local
from wheels.channel.model import Build, Channel, StreamState, from_json
from wheels.channel.plan import GROW, ChannelChange, add

ELSEWHERE = "there is 1.0, for other machines only"
STREAM = "nightly"


def channel_with(
    tmp_path: Path,
    *builds: Sequence[tuple[str, bytes]],
    closed: bool = False,
    owners: dict[str, tuple[str, ...]] | None = None,
) -> MemoryPlace:
    """Return a channel that lists builds which nobody has checked."""
    place = MemoryPlace()
    empty = Channel(0, "Acme", 0, 0, "", {STREAM: StreamState(closed=closed)}, owners or {})
    place.write("channel.json", empty.to_json())
    for number, files in enumerate(builds):
        local = read_local([write(tmp_path / str(number), files)])

        def unchecked(channel: Channel, local: list[LocalFile] = local, number: int = number) -> ChannelChange:
            stream = channel.streams[STREAM]
            brought = {one.file.filename: one.directory for one in local}
            streams = {STREAM: StreamState((*stream.builds, Build(NOW + number, brought)), stream.closed)}
            known = {**channel.files, **{one.file.filename: one.file for one in local}}
            after = Channel(channel.serial + 1, "Acme", 0, 0, "", streams, channel.owners, known)
            return ChannelChange(after, {STREAM: GROW}, tuple(brought), tuple(local))

        change(place, 0, unchecked)
    return place


def said(place: MemoryPlace) -> list[str]:
    """Return what `check` says."""
    return [str(one) for one in check(place)[1]]


CORE = wheel("acme-core", "1.0")


def test_nothing_is_wrong(tmp_path: Path) -> None:
    assert said(channel_with(tmp_path, [CORE, wheel("acme", "1.0", "Requires-Dist: acme-core==1.0")])) == []


def test_a_listed_file_that_is_missing(tmp_path: Path) -> None:
    place = channel_with(tmp_path, [CORE])
    path = next(path for path in place.objects if path.endswith(".whl"))
    del place.objects[path]
    assert said(place) == [f"missing-file: {path}: is missing, but listed in nightly"]


@pytest.mark.parametrize("suffix", [".whl", ".metadata"])
def test_a_listed_file_with_another_digest(tmp_path: Path, suffix: str) -> None:
    place = channel_with(tmp_path, [CORE])
    path = next(path for path in place.objects if path.endswith(suffix))
    place.objects[path] += b"\0"
    (one,) = said(place)
    assert one.startswith(f"other-bytes: {path}: has the SHA-256 ")


def test_pages_that_are_not_what_the_stream_has(tmp_path: Path) -> None:
    place = channel_with(tmp_path, [CORE])
    place.objects["nightly/simple/acme-core/index.json"] += b" "
    del place.objects["nightly/simple/index.html"]
    place.objects["nightly/simple/other/index.html"] = b""
    assert said(place) == [
        "wrong-page: nightly: simple/acme-core/index.json: is not what nightly has",
        "wrong-page: nightly: simple/index.html: is missing",
        "wrong-page: nightly: simple/other/index.html: belongs to no project of nightly",
    ]


WINDOWS, PYTHON = "py3-none-win_amd64", "Python 3.9 on Linux x86_64"


@pytest.mark.parametrize(
    ("files", "text"),
    [
        (
            [wheel("acme", "1.0", "Requires-Dist: acme-core==1.1"), CORE],
            f"acme-1.0-{LINUX}.whl requires acme-core==1.1, on {PYTHON}: there is 1.0",
        ),
        (  # A platform: the wheel for Windows lacks what it requires there.
            [wheel("acme", "1.0", "Requires-Dist: acme-core==1.0", tag=WINDOWS), CORE],
            f"acme-1.0-{WINDOWS}.whl requires acme-core==1.0, on Python 3.9 on Windows x86_64: {ELSEWHERE}",
        ),
        (  # A Python.
            [
                wheel("acme", "1.0", "Requires-Dist: acme-core==1.0", "Requires-Python: >=3.12"),
                wheel("acme-core", "1.0", tag="cp312-cp312-manylinux_2_28_x86_64"),
            ],
            f"acme-1.0-{LINUX}.whl requires acme-core==1.0, on Python 3.13 on Linux x86_64: {ELSEWHERE}",
        ),
        (  # A GPU, by its extra.
            [
                wheel(
                    "acme",
                    "1.0",
                    "Provides-Extra: device-gfx942",
                    'Requires-Dist: acme-core==1.1; extra == "device-gfx942"',
                ),
                CORE,
            ],
            f"acme-1.0-{LINUX}.whl requires acme-core==1.1 for [device-gfx942], on {PYTHON}: there is 1.0",
        ),
        (  # An extra that there is not.
            [wheel("acme", "1.0", "Requires-Dist: acme-core[gpu]==1.0"), CORE],
            f"acme-1.0-{LINUX}.whl requires acme-core[gpu]==1.0, on {PYTHON}: there is 1.0",
        ),
    ],
)
def test_a_requirement_that_nothing_meets(tmp_path: Path, files: Sequence[tuple[str, bytes]], text: str) -> None:
    assert said(channel_with(tmp_path, files)) == [f"unmet: nightly: {text}"]


def test_what_comes_from_elsewhere_has_to_be_in_a_closed_stream_only(tmp_path: Path) -> None:
    files = [wheel("acme", "1.0", "Requires-Dist: numpy", "Requires-Python: >=3.12")]
    assert said(channel_with(tmp_path / "open", files)) == []
    (one,) = said(channel_with(tmp_path / "closed", files, closed=True))
    assert one.endswith("requires numpy, on Python 3.12 on Linux x86_64: there is none")
    assert said(channel_with(tmp_path / "met", [*files, sdist("numpy", "2.0")], closed=True)) == []


def test_a_package_that_requires_itself_and_a_circle_of_extras(tmp_path: Path) -> None:
    itself = wheel("acme", "1.0", "Requires-Dist: acme==1.0")
    assert said(channel_with(tmp_path / "itself", [itself])) == [
        f"circle: nightly: acme-1.0-{LINUX}.whl requires acme==1.0, which it is"
    ]
    lines = [f"Provides-Extra: {one}" for one in ("a", "b")]
    lines += ['Requires-Dist: acme[b]; extra == "a"', 'Requires-Dist: acme[a]; extra == "b"']
    assert said(channel_with(tmp_path / "circle", [wheel("acme", "1.0", *lines)])) == [
        f"circle: nightly: acme-1.0-{LINUX}.whl: acme[a] -> acme[b] -> acme[a]"
    ]


def test_a_newest_build_that_does_not_sort_last(tmp_path: Path) -> None:
    place = channel_with(tmp_path, [wheel("acme", "1.0+acme7.15")], [wheel("acme", "1.0+acme10.1")])
    assert said(place) == [
        "order: nightly: acme 1.0+acme10.1 is the newest build, and installers take 1.0+acme7.15 for newer"
    ]


def test_two_wheels_for_one_tag(tmp_path: Path) -> None:
    name, data = CORE
    place = channel_with(tmp_path, [(name.replace("-1.0-", "-1.0-1-"), data), CORE])
    assert said(place) == [
        f"same-tag: nightly: acme_core-1.0-1-{LINUX}.whl and acme_core-1.0-{LINUX}.whl both have the tag {LINUX}"
    ]


def test_two_wheels_for_one_tag_concern_none_with_a_shorter_name(tmp_path: Path) -> None:
    name, data = wheel("big_acme_core", "1.0")
    place = channel_with(tmp_path, [(name.replace("-1.0-", "-1.0-1-"), data), (name, data), CORE])
    channel, _ = read_channel(place)
    assert complaints_about(channel, "nightly", [channel.files[CORE[0]]]) == []
    assert [one.kind for one in complaints_about(channel, "nightly", [channel.files[name]])] == ["same-tag"]


def test_wheel_variants_of_one_version_are_told_apart_by_their_labels(tmp_path: Path) -> None:
    name, data = CORE
    variants = [(name.replace(".whl", f"-{label}.whl"), data) for label in ("gfx942", "gfx1100")]
    assert said(channel_with(tmp_path, [CORE, *variants])) == []


def test_owners(tmp_path: Path) -> None:
    owners = {"acme": ("acme-*", "acme"), "other": ("acme-core",)}
    assert said(channel_with(tmp_path, [CORE, wheel("torch", "1.0")], owners=owners)) == [
        "two-owners: nightly: acme-core: acme and other own this name",
        "no-owner: nightly: torch: nobody owns this name",
        "owner-missing: nightly: acme: acme owns it, and no build has it",
    ]


def test_add_refuses_what_check_would_find(tmp_path: Path) -> None:
    place = channel_with(tmp_path)
    bad = read_local([write(tmp_path / "bad", [wheel("acme", "1.0", "Requires-Dist: acme-core>=2"), CORE])])
    before = dict(place.objects)
    with pytest.raises(FoundError, match=r"unmet: nightly: acme-1.0.*requires acme-core>=2.*\nAdd what is required"):
        change(place, 0, lambda channel: add(channel, STREAM, bad, NOW))
    assert place.objects == before


def test_the_state_is_read_as_it_was_written(tmp_path: Path) -> None:
    place = MemoryPlace()
    place.write("channel.json", Channel(0, "Acme", 0, 0, "", {STREAM: StreamState()}).to_json())
    files = read_local([build(tmp_path, "1.0")])
    after = change(place, 0, lambda channel: add(channel, STREAM, files, NOW)).after
    assert from_json(after.to_json(), "") == after
