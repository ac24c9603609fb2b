"""Names of wheels are valid (PEP 440, PEP 427), and satisfy what the names of the old wheel did."""

import pytest
from packaging.requirements import Requirement
from packaging.utils import parse_wheel_filename
from packaging.version import Version

from lib.wheel.wheel_name import WheelName, read_name, with_local


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
