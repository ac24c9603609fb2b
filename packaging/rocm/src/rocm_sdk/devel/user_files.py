"""What users put into the development tree, or changed in it: it stays, whatever is made anew around it.

Before a tree is removed, files that it did not have from its packages, and files that were changed since, are moved to
a directory beside it, and back when the new tree is there. Where the new one has a file in that place, the user's comes
to lie beside it, with `.kept` behind its name. So does a changed file where a link has to be.

Size and time of the last change tell whether a file was changed. A file with the bytes of the new one, or only their
beginning (as after a power failure), is nobody's work and is removed.
"""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from .files import COPY_BYTES, make_directories
from .layout import DevelLayout

SUFFIX = ".kept"
#: Bytes of a file's name, on all file systems.
NAME_MAX = 255


def mark(path: Path) -> list[int]:
    """Return [size in bytes, mtime in ns] of a file or of a link itself, [] if it is not there."""
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [status.st_size, status.st_mtime_ns]


def find_foreign(layout: DevelLayout, known: Collection[str]) -> Iterator[str]:
    """Yield what is in the tree and not `known`: files and links, by their paths relative to `home`."""
    for path in _leaves(layout.root):
        name = path.relative_to(layout.home).as_posix()
        if name not in known:
            yield name


def _leaves(root: Path) -> Iterator[Path]:
    """Yield the files and links below a directory, but not what the interpreter makes of modules."""
    for directory, subdirectories, files in os.walk(root):
        links = [name for name in subdirectories if Path(directory, name).is_symlink()]
        subdirectories[:] = sorted(name for name in subdirectories if name != "__pycache__")
        yield from (Path(directory, name) for name in sorted([*files, *links]))


def set_aside(layout: DevelLayout, known: Collection[str], marks: Mapping[str, list[int]]) -> None:
    """Move the user's files from the tree to beside it; `marks` has the mark of each file from when it was made."""
    changed = [path for path, was in marks.items() if path in known and mark(layout.home / path) not in ([], was)]
    for path in [*find_foreign(layout, known), *sorted(changed)]:
        aside = layout.user_files / path
        make_directories(aside.parent, layout.widest_mode)
        if os.path.lexists(aside):  # Of a call that was interrupted.
            keep(layout.home / path, aside)
        else:
            (layout.home / path).rename(aside)


def bring_back(layout: DevelLayout) -> None:
    """Move what was set aside into the tree, beside the file that is there where one is; a warning names these."""
    kept, taken = [], []
    for aside in list(_leaves(layout.user_files)):
        place = layout.home / aside.relative_to(layout.user_files)
        try:
            make_directories(place.parent, layout.widest_mode)
        except (FileExistsError, NotADirectoryError):
            kept.append(aside)  # The new tree has a file where a directory was: it stays where it is.
            continue
        if os.path.lexists(place):
            taken.append((aside, place))
        else:
            aside.rename(place)
    for aside, place in taken:  # Now that files which were kept before have their names again.
        if has_bytes_of(aside, place):
            aside.unlink()
        else:
            kept.append(keep(aside, place))
    if not any(_leaves(layout.user_files)):
        shutil.rmtree(layout.user_files, ignore_errors=True)
    warn_of_kept(kept)


def warn_of_kept(kept: Sequence[Path]) -> None:
    """Name files that are no longer where the user had them."""
    if kept:
        names = ", ".join(map(str, kept[:3])) + (", …" if len(kept) > 3 else "")
        text = f"{len(kept)} changed files of the development tree are kept under another name: {names}"
        warnings.warn(text, RuntimeWarning, stacklevel=2)


def keep(path: Path, place: Path) -> Path:
    """Move a file to beside `place`, under the first name that is free, and return that."""
    number = 1
    while os.path.lexists(kept := place.with_name(_kept_name(place.name, number))):
        number += 1
    path.rename(kept)
    return kept


def _kept_name(name: str, number: int) -> str:
    """Return a name with the suffix, cut if it would be longer than names may be."""
    suffix = f"{SUFFIX}{number if number > 1 else ''}"
    encoded, room = os.fsencode(name), NAME_MAX - len(suffix)
    return (name if len(encoded) <= room else encoded[:room].decode(errors="ignore")) + suffix


def has_bytes_of(path: Path, other: Path) -> bool:
    """Return whether a file has the bytes of another one, or the first of them, and so nothing of its own."""
    if path.is_symlink() or other.is_symlink():
        return path.is_symlink() and other.is_symlink() and path.readlink() == other.readlink()
    if not (path.is_file() and other.is_file()):
        return False
    with path.open("rb") as one, other.open("rb") as whole:
        while piece := one.read(COPY_BYTES):
            if whole.read(len(piece)) != piece:
                return False
    return True
