"""The development tree of an SDK: its install prefix with headers and links, unpacked on first use.

The wheel contains the tree as an archive, because wheels cannot contain links. What is unpacked is listed in RECORD, so
that uninstalling, or upgrading, removes it. Files that users put into the tree, or changed in it, stay.
"""

from __future__ import annotations

import csv
import io
import json
import os
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

    Several processes may ask at a time. Raises OSError if site-packages cannot be written, or there is no archive.
    """
    archive = next(_PACKAGE.glob("_devel.tar*"), None)
    if archive is None:
        raise FileNotFoundError(
            f"{_PACKAGE} has no _devel.tar: a plain devel package has its tree as ordinary files, beside this package"
        )
    with tarfile.open(archive) as members:
        first = members.next()
        assert first is not None, f"{archive} is empty"
        tree = _PACKAGE.parent / first.name.partition("/")[0]
        wanted = _mark(archive)
        if _read_stamp(tree).get("archive") != wanted:
            with _locked(archive):
                if _read_stamp(tree).get("archive") != wanted:
                    _unpack(members, tree, wanted)
    return tree


def _unpack(members: tarfile.TarFile, tree: Path, archive: list[int]) -> None:
    """Unpack beside the tree, and move file by file: so no file is ever there in part."""
    with tempfile.TemporaryDirectory(dir=tree.parent, prefix=f"{tree.name}.") as unfinished:
        members.extractall(unfinished, filter="data")
        # Links lead to the packages' trees beside this one: they are right once they are in their place.
        new = Path(unfinished, tree.name)
        names = sorted(_leaves(new))
        old: dict[str, list[int]] = _read_stamp(tree).get("files", {})
        _list_in_record(tree, [*names, _STAMP])
        (tree / _STAMP).unlink(missing_ok=True)
        for name in sorted(old.keys() - set(names)):
            if _mark(tree / name) == old[name]:
                (tree / name).unlink()
        for directory, _, _ in os.walk(new):
            (tree / Path(directory).relative_to(new)).mkdir(exist_ok=True)
        for name in names:
            _keep_changed(tree / name, new / name, old.get(name))
            (new / name).replace(tree / name)
        stamp = {"archive": archive, "files": {name: _mark(tree / name) for name in names}}
        _replace(tree / _STAMP, json.dumps(stamp))


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


def _keep_changed(path: Path, new: Path, was: list[int] | None) -> None:
    """Rename what a user put, or changed, where a file of the package has to be: `.kept` behind its name."""
    if _mark(path) in ([], was) or path.is_symlink() or (new.is_file() and path.read_bytes() == new.read_bytes()):
        return
    number, kept = 1, path.with_name(f"{path.name}.kept")
    while os.path.lexists(kept):
        number += 1
        kept = path.with_name(f"{path.name}.kept{number}")
    path.rename(kept)


def _list_in_record(tree: Path, names: list[str]) -> None:
    """Add files of the tree to the RECORD that lists this package, in place of those of an older tree."""
    site = tree.parent
    own = f"{_PACKAGE.name}/{Path(__file__).name}"
    for record in sorted(site.glob("*.dist-info/RECORD")):
        rows = list(csv.reader(io.StringIO(record.read_text("utf-8"), newline="")))
        if any(row and row[0] == own for row in rows):
            rows = [row for row in rows if row and not row[0].startswith(f"{tree.name}/")]
            text = io.StringIO(newline="")
            csv.writer(text).writerows([*rows, *([f"{tree.name}/{name}", "", ""] for name in names)])
            _replace(record, text.getvalue())
            return


def _replace(path: Path, text: str) -> None:
    """Write a file anew, whole."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink()
        raise


@contextmanager
def _locked(archive: Path) -> Iterator[None]:
    """Let one process at a time do this; on Windows, and where files cannot be locked, they do the same work twice."""
    with archive.open("rb") as file:
        with suppress(ImportError, OSError):
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield
