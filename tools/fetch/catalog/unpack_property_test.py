"""Tests of unpacking by made-up trees: whatever is packed comes out, and whatever comes is unpacked or refused."""

import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from develop.testing.planted_archives import (
    COMPRESS,
    Planted,
    directory,
    file,
    hard_link,
    link,
    manifest,
    plant,
    tar,
    tree,
)
from tools.fetch.catalog.names import CatalogError
from tools.fetch.catalog.one_archive import Arguments, unpack, write

SUFFIXES = sorted(COMPRESS)
NAMES = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"), exclude_characters="/\0"), min_size=1, max_size=40
).filter(lambda name: name not in (".", "..") and len(name.encode()) < 200)
MODES = st.integers(0, 0o777).map(lambda mode: mode | 0o700)


@st.composite
def trees(draw: st.DrawFn) -> list[Planted]:
    """Make members that are all right: directories before or after what lies in them."""
    directories, members, files = ["stage"], [], []
    used: set[str] = set()
    for kind in draw(st.lists(st.sampled_from(["directory", "file", "link", "hard link"]), max_size=25)):
        path = f"{draw(st.sampled_from(directories))}/{draw(NAMES)}"
        if path in used or len(path.encode()) > 900:
            continue
        used.add(path)
        match kind:
            case "directory":
                directories.append(path)
                members.append(directory(path, draw(MODES)))
            case "file":
                files.append((path, draw(MODES)))
                members.append(file(path, draw(st.binary(max_size=2000)), files[-1][1]))
            case "link":
                members.append(link(path, draw(NAMES)))
            case "hard link" if files:
                target, mode = draw(st.sampled_from(files))
                members.append(hard_link(path, target, mode))
    return members


def expected(members: list[Planted]) -> Iterator[tuple[str, tuple[str, str]]]:
    contents: dict[str, tuple[str, str]] = {}
    for info, content in members:
        if info.issym():
            yield info.name, ("link", info.linkname)
        elif info.isdir():
            yield info.name, (f"directory {info.mode:o}", "")
        else:
            said = contents[info.linkname] if info.islnk() else (f"file {info.mode:o}", content.hex())
            contents[info.name] = said
            yield info.name, said


@given(trees(), st.sampled_from(SUFFIXES), st.sampled_from([tarfile.PAX_FORMAT, tarfile.GNU_FORMAT]), st.booleans())
@settings(max_examples=100, deadline=None)
def test_what_is_packed_is_unpacked(members: list[Planted], suffix: str, format_: int, first: bool) -> None:
    with tempfile.TemporaryDirectory() as holder:
        planted = [manifest(), *members] if first else [*members, manifest()]
        archive = plant(Path(holder) / f"a_lib_generic{suffix}", planted, format_)
        unpack(archive, Path(holder) / "folder")
        found = tree(Path(holder) / "folder")
        assert {
            name: what[:2] for name, what in found.items() if name not in ("stage", "artifact_manifest.txt")
        } == dict(expected(members))
        for info, _ in members:
            if info.islnk():
                assert (Path(holder) / "folder" / info.name).samefile(Path(holder) / "folder" / info.linkname)


@given(st.binary(max_size=4000), st.integers(0, 4000), trees())
@settings(max_examples=150, deadline=None)
def test_any_tar_is_unpacked_or_refused(noise: bytes, at: int, members: list[Planted]) -> None:
    data = bytearray(tar([manifest(), *members]))
    data[at : at + len(noise)] = noise
    with tempfile.TemporaryDirectory() as holder:
        archive = Path(holder) / "a_lib_generic.tar.gz"
        archive.write_bytes(COMPRESS[".tar.gz"](bytes(data)))
        try:
            write(Arguments(archive, "a_lib_generic", "r", Path(holder) / "in", None))
        except CatalogError:
            assert not list((Path(holder) / "in").iterdir())
