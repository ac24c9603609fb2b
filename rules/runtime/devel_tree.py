"""The development tree of an SDK: its install prefix with headers and links, unpacked on first use.

The wheel contains the tree as an archive, because wheels cannot contain links. What is unpacked is listed in RECORD, so
that uninstalling, or upgrading, removes it. Files that users put into the tree, or changed in it, stay.
"""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parent
#: In the tree: from which archive it was unpacked, and each file's mark. It is written last.
_STAMP = ".devel-tree.json"


def root() -> Path:
    """Return the root of the tree, which lies beside the packages; unpack it if it is not from this very archive.

    Several processes may ask at a time. A container image has the tree unpacked, and no archive. Raises OSError if
    site-packages cannot be written, or there is neither.
    """
    archive = next(_PACKAGE.glob("_devel.tar*"), None)
    if archive is None:
        return _from_image()
    with tarfile.open(archive) as members:
        first = members.next()
        assert first is not None, f"{archive} is empty"
        tree = _PACKAGE.parent / first.name.partition("/")[0]
        wanted = _mark(archive)
        if _read_stamp(tree).get("archive") != wanted:
            with _locked(archive) as is_alone:
                if _read_stamp(tree).get("archive") != wanted:
                    _unpack(members, tree, wanted, is_alone)
    return tree


def _from_image() -> Path:
    """Return the tree that came unpacked: its stamp names this package."""
    for stamp in sorted(_PACKAGE.parent.glob(f"*/{_STAMP}")):
        if _read_stamp(stamp.parent).get("package") == _PACKAGE.name:
            return stamp.parent
    raise FileNotFoundError(
        f"{_PACKAGE} has no _devel.tar: a plain devel package has its tree as ordinary files, beside this package"
    )


def _unpack(members: tarfile.TarFile, tree: Path, archive: list[int], is_alone: bool) -> None:
    """Unpack beside the tree, and move file by file: so no file is ever there in part.

    RECORD names each path before it is made, so that nothing outlives an uninstallation, whatever happens meanwhile.
    And it names none before what a user has there is moved aside: installers remove what RECORD names.
    """
    unfinished = tree.with_name(f"{tree.name}.unfinished")
    leaves = sorted(member.name.partition("/")[2] for member in members.getmembers() if not member.isdir())
    old: dict[str, list[int]] = _read_stamp(tree).get("files", {})
    if is_alone:
        shutil.rmtree(unfinished, ignore_errors=True)  # Of a process that was killed.
    _append_to_record(unfinished.name, f"{tree.name}/{_STAMP}")
    unfinished.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=unfinished) as own:
        scratch = Path(own)
        members.extractall(scratch, filter="data")
        new = scratch / tree.name
        tree.mkdir(exist_ok=True)
        _replace(tree / _STAMP, json.dumps({"files": old}), scratch)
        _clear(tree, new, leaves, old)
        paths = [f"{tree.name}/{name}" for name in (*leaves, _STAMP)]
        _list_in_record(tree, [unfinished.name, *paths], scratch)
        _fill(tree, new, leaves)
        stamp = {"archive": archive, "files": {name: _mark(tree / name) for name in leaves}}
        _replace(tree / _STAMP, json.dumps(stamp), scratch)
        _list_in_record(tree, paths, scratch)
    with suppress(OSError):
        unfinished.rmdir()  # Unless others unpack, too.


def _clear(tree: Path, new: Path, names: list[str], old: dict[str, list[int]]) -> None:
    """Remove what is left of an older tree, by its marks, and move aside what is in the way of the new one."""
    for name in sorted(old.keys() - set(names)):
        if _mark(tree / name) == old[name]:
            (tree / name).unlink()
    for directory, _, _ in os.walk(new):
        place = tree / Path(directory).relative_to(new)
        if place.is_symlink() or not place.is_dir():
            _make_room(place, Path(directory), None)
    for name in names:
        _make_room(tree / name, new / name, old.get(name))


def _fill(tree: Path, new: Path, names: list[str]) -> None:
    """Move what was unpacked into its place.

    Links lead to the packages' trees beside this one: they are right once they are in their place.
    """
    for directory, _, _ in os.walk(new):
        (tree / Path(directory).relative_to(new)).mkdir(exist_ok=True)
    for name in names:
        (new / name).replace(tree / name)


def _leaves(directory: Path) -> Iterator[str]:
    """Yield the files and links below a directory, relative to it."""
    for folder, subfolders, files in os.walk(directory):
        links = [name for name in subfolders if Path(folder, name).is_symlink()]
        yield from (Path(folder, name).relative_to(directory).as_posix() for name in [*files, *links])


def _mark(path: Path) -> list[int]:
    """Return [size in bytes, mtime in ns] of a file or link, [] if it is not there."""
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [status.st_size, status.st_mtime_ns]


def _read_stamp(tree: Path) -> dict[str, Any]:
    try:
        stamp: dict[str, Any] = json.loads((tree / _STAMP).read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return {}
    return stamp


def _make_room(path: Path, new: Path, was: list[int] | None) -> None:
    """Rename what a user put, or changed, where something of the package has to be: `.kept` behind its name."""
    if _mark(path) in ([], was) or _is_same(path, new):
        return
    if path.is_dir() and not path.is_symlink() and not any(_leaves(path)):
        shutil.rmtree(path)
        return
    number, stem = 1, path.name
    if len(os.fsencode(stem)) > 240:  # File systems have names of 255 bytes.
        stem = os.fsencode(stem)[:240].decode(errors="ignore")
    while os.path.lexists(kept := path.with_name(f"{stem}.kept{number if number > 1 else ''}")):
        number += 1
    path.rename(kept)


def _is_same(path: Path, new: Path) -> bool:
    if path.is_symlink() or new.is_symlink():
        return path.is_symlink() and new.is_symlink() and path.readlink() == new.readlink()
    return path.is_file() and new.is_file() and path.read_bytes() == new.read_bytes()


def _find_record() -> tuple[Path | None, list[list[str]]]:
    """Return the RECORD that lists this package, and its rows."""
    own = f"{_PACKAGE.name}/{Path(__file__).name}"
    for record in sorted(_PACKAGE.parent.glob("*.dist-info/RECORD")):
        rows = [row for row in csv.reader(io.StringIO(record.read_text("utf-8"), newline="")) if row]
        if any(row[0] == own for row in rows):
            return record, rows
    return None, []


def _append_to_record(*paths: str) -> None:
    """Have RECORD list these paths, too, before anything is made.

    In place, because RECORD would not list a temporary file. A RECORD with a second name is in an
    installer's cache as well, such as conda's, and stays as it is.
    """
    record, rows = _find_record()
    new = [path for path in paths if [path, "", ""] not in rows]
    if record and new and record.stat().st_nlink == 1:
        start = "" if record.read_bytes().endswith(b"\n") else "\r\n"
        with record.open("a", encoding="utf-8", newline="") as file:
            file.write(start + "".join(f"{path},,\r\n" for path in new))


def _list_in_record(tree: Path, paths: list[str], scratch: Path) -> None:
    """Have RECORD list these paths of the tree, and beside it, and no others."""
    record, rows = _find_record()
    if record:
        others = (f"{tree.name}/", f"{tree.name}.")
        kept = [row for row in rows if not row[0].startswith(others)]
        text = io.StringIO(newline="")
        csv.writer(text).writerows([*kept, *([path, "", ""] for path in paths)])
        _replace(record, text.getvalue(), scratch)


def _replace(path: Path, text: str, scratch: Path) -> None:
    """Write a file anew, whole."""
    (scratch / "text").write_bytes(text.encode())
    (scratch / "text").replace(path)


@contextmanager
def _locked(archive: Path) -> Iterator[bool]:
    """Let one process at a time do this; on Windows, and where files cannot be locked, they do the same work twice.

    Yields whether there is a lock.
    """
    with archive.open("rb") as file:
        is_alone = False
        with suppress(ImportError, OSError):
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
            is_alone = True
        yield is_alone
