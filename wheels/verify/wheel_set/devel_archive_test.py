"""Tests of reading the archive of a development tree, plain and compressed."""

import io
import lzma
import tarfile

import pytest

from develop.testing.elf_sample import Sample
from wheels.verify.model import FileFacts
from wheels.verify.wheel_set.devel_archive import read_devel_archive
from wheels.verify.wheel_set.model import DevelTree

LIBRARY = Sample(soname="libx.so.1", needed=("libc.so.6",), rpath="$ORIGIN").build()


def member(
    name: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = ""
) -> tuple[tarfile.TarInfo, bytes]:
    """Make a member."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, len(data)
    return info, data


def archive(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    """Make an archive."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for info, data in members:
            tar.addfile(info, io.BytesIO(data))
    return target.getvalue()


GOOD = archive(
    member("dev", kind=tarfile.DIRTYPE),
    member("dev/lib/libx.so.1", LIBRARY),
    member("dev/include/" + "long/" * 40 + "naïve.h", b"text"),
    member("dev/lib/libx.so", kind=tarfile.SYMTYPE, link="libx.so.1"),
    member("dev/lib/liby.so.1", kind=tarfile.SYMTYPE, link="../../core/lib/liby.so.1"),
)


def read(data: bytes, name: str) -> DevelTree:
    """Read an archive of that name."""
    return read_devel_archive(io.BytesIO(data), FileFacts(name, len(data), 0, ""))


@pytest.mark.parametrize("name", ["dev/_devel.tar", "dev/_devel.tar.xz"])
def test_files_links_and_libraries(name: str) -> None:
    tree = read(lzma.compress(GOOD) if name.endswith(".xz") else GOOD, name)
    assert (tree.damage, tree.tree, tree.directories) == ("", "dev", frozenset(["dev"]))
    assert tree.files == {"dev/lib/libx.so.1": len(LIBRARY), "dev/include/" + "long/" * 40 + "naïve.h": 4}
    assert tree.links == {"dev/lib/libx.so": "libx.so.1", "dev/lib/liby.so.1": "../../core/lib/liby.so.1"}
    (linked,) = tree.linked.values()
    assert (linked.path, linked.soname, linked.rpath) == ("dev/lib/libx.so.1", "libx.so.1", ("$ORIGIN",))


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (member("dev/../../etc/passwd"), "not a plain path inside dev/"),
        (member("/dev/x"), "not a plain path inside dev/"),
        (member("other/x"), "not a plain path inside dev/"),
        (member("dev/lib/libx.so.1"), "is there twice"),
        (member("dev/null", kind=tarfile.CHRTYPE), "neither a file, a directory nor a symbolic link"),
        (member("dev/hard", kind=tarfile.LNKTYPE, link="dev/lib/libx.so.1"), "neither a file"),
    ],
)
def test_members_that_cannot_be_unpacked(bad: tuple[tarfile.TarInfo, bytes], reason: str) -> None:
    data = archive(member("dev", kind=tarfile.DIRTYPE), member("dev/lib/libx.so.1", LIBRARY), bad)
    assert reason in read(data, "_devel.tar").damage


@pytest.mark.parametrize("name", ["_devel.tar", "_devel.tar.xz"])
def test_every_cut_is_noticed(name: str) -> None:
    end = GOOD.rstrip(b"\0")
    for size in range(512, len(end), 700):
        cut = GOOD[:size]
        assert read(lzma.compress(cut) if name.endswith(".xz") else cut, name).damage, size
    assert read(lzma.compress(GOOD)[:-20], "_devel.tar.xz").damage
    assert read(b"no archive at all" * 99, name).damage
