"""Wheels and sdists in their one canonical form: the order, dates, modes and owners of what is in them."""

import itertools
import os
import stat
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from lib.common.program import archive_time

#: 1980-01-01, which is the first day that a zip archive can hold, unless the build was told another.
MTIME = archive_time()
DATE = (*time.gmtime(MTIME)[:5], time.gmtime(MTIME).tm_sec & ~1)
FILES = sorted(file for folder in os.environ["DISTS"].split() for file in Path(folder).rglob("rocm*"))
WHEELS = [file for file in FILES if file.suffix == ".whl"]
SDISTS = [file for file in FILES if file.name.endswith(".tar.gz")]
LAYOUTS = ("family", "split", "thin")


def name(path: Path) -> str:
    """Tell the distributions of the layouts apart."""
    layout = next(layout for layout in LAYOUTS if f"/{layout}/" in str(path))
    return f"{layout}/{'static/' * ('/static/' in str(path))}{path.name.split('-')[0]}"


def test_all_layouts_are_there() -> None:
    assert (len(WHEELS), len(SDISTS)) == (7 + 6 + 7, len(LAYOUTS))


@pytest.mark.parametrize("wheel", WHEELS, ids=name)
def test_members_of_a_wheel_are_sorted_with_dist_info_and_record_last(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    dist_info = "-".join(wheel.name.split("-")[:2]) + ".dist-info/"
    tree = [one for one in names if not one.startswith(dist_info)]
    info = [one for one in names if one.startswith(dist_info)]
    assert names == tree + info
    assert tree == sorted(tree)
    assert info == [*sorted(info[:-1]), dist_info + "RECORD"]


@pytest.mark.parametrize("wheel", WHEELS, ids=name)
def test_members_of_a_wheel_say_nothing_of_the_machine(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        members = archive.infolist()
        assert archive.comment == b""
    assert {member.date_time for member in members} == {DATE}
    assert {member.create_system for member in members} == {3}  # UNIX, so that modes count
    for member in members:
        mode = member.external_attr >> 16
        assert stat.S_ISREG(mode), member.filename
        assert not mode & 0o7022, (member.filename, oct(mode))  # nothing that others may write, or that is set-user-ID
        assert member.extra == b""


def check_tar(archive: tarfile.TarFile, *, ordered: bool) -> None:
    """Assert what every tar archive of a build is like."""
    members = archive.getmembers()
    assert members
    if ordered:
        assert [one.name for one in members] == sorted(one.name for one in members)
    assert {one.mtime for one in members} == {MTIME}
    assert {(one.uid, one.gid, one.uname, one.gname) for one in members} == {(0, 0, "", "")}
    assert not [one.name for one in members if one.mode & 0o7022 and not one.issym()]


@pytest.mark.parametrize("sdist", SDISTS, ids=name)
def test_an_sdist(sdist: Path) -> None:
    # RFC 1952: no time, no name, "unknown" operating system.
    assert sdist.read_bytes()[:10] == b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
    with tarfile.open(sdist) as archive:
        check_tar(archive, ordered=True)


def test_compressed_bytes_are_those_of_the_content(tmp_path: Path) -> None:
    """A file that core has in several layouts has the same compressed bytes in each."""
    found = {}
    for wheel in (one for one in WHEELS if one.name.startswith("rocm_sdk_core-")):
        with zipfile.ZipFile(wheel) as archive:
            found[wheel] = {one.filename: (one.CRC, one.compress_size) for one in archive.infolist()}
    assert len(found) == len(LAYOUTS)
    for first, second in itertools.combinations(found.values(), 2):
        common = [one for one in first if one in second and first[one][0] == second[one][0]]
        assert len(common) > 20
        assert [one for one in common if first[one] != second[one]] == []
