"""The links of the development tree: what they should be, and making them so.

Three kinds: hard links to the runtime packages' files that the archive names, hard links to all files of the installed
target packages, and the archive's own symbolic links. A link whose other end is not there (its package is not
installed) is not made: installers would not remove it. It is made when the package comes.

Where there can be no hard link, a symbolic one is made: the tree is on another file system, say, or the file belongs to
someone else (protected_hardlinks). Copies of all would take gigabytes. But programs are copied: they look for what
belongs to them beside the file that they were started from: behind a symbolic link, the runtime package's file.

On Windows, symbolic links are for those who have the right to make them. Archives for it have none that stay in the
tree, and where there can be no hard link, there is a copy.
"""

from __future__ import annotations

import errno
import os
import posixpath
import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from ..errors import DevelError
from ..forwarders import is_forwarder
from ..installation import InstalledPackage
from ..record import is_below, read_record
from ..system import IS_WINDOWS
from .files import make_directories
from .layout import DevelLayout
from .state import Content
from .user_files import has_bytes_of, keep, mark, warn_of_kept

# What link(2) says when a hard link cannot be, but a symbolic one can: other device, no such feature, too many, not
# permitted (protected_hardlinks).
_NO_HARD_LINK = frozenset((errno.EXDEV, errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS))
# Likewise of CreateHardLink: ERROR_INVALID_FUNCTION, ERROR_NOT_SAME_DEVICE, ERROR_NOT_SUPPORTED, ERROR_TOO_MANY_LINKS.
_NO_HARD_LINK_ON_WINDOWS = frozenset((1, 17, 50, 1142))


def wanted_hard_links(content: Content, layout: DevelLayout) -> dict[str, str]:
    """Return the hard links to be, as path and source relative to site-packages.

    The archive's come first, then the target packages' in order. Raises DevelError if core or a target package lacks a
    file that it should have.
    """
    links = {path: source for path, source in content.outward.items() if _is_there(layout, source)}
    taken = {*content.files, *content.directories, *content.symlinks, *links}
    for package in layout.targets:
        for path, source in _mirror(package, layout.tree):
            if path not in taken:
                taken.add(path)
                links[path] = source
    return links


def make_hard_links(
    layout: DevelLayout, links: dict[str, str], marks: Mapping[str, list[int]], unfinished: Collection[str]
) -> bool:
    """Make each path a hard link to its source, or a copy; return whether one had to be a symbolic link instead.

    What is there already is the user's, and kept, unless it has its mark, or is `unfinished` work of another call.
    """
    symbolic = False
    for path, source in sorted(links.items()):
        target, destination = (layout.site if IS_WINDOWS else layout.home) / source, layout.home / path
        try:
            hard = _link(target, destination, path, source)
        except FileNotFoundError:
            make_directories(destination.parent, layout.widest_mode)
            hard = _link(target, destination, path, source)
        except FileExistsError:
            if is_link_or_copy(destination, target):
                hard = not destination.is_symlink()
            else:
                is_ours = path in unfinished or has_bytes_of(destination, target)
                _clear(destination, marks.get(path), is_ours=is_ours)
                hard = _link(target, destination, path, source)
        symbolic = symbolic or not hard
    return symbolic


def make_symlinks(
    layout: DevelLayout, symlinks: dict[str, str], marks: Mapping[str, list[int]], unfinished: Collection[str]
) -> list[str]:
    """Make the symbolic links (path relative to `home`, text) that lead somewhere; return their paths.

    What is there already is the user's, and kept, as where hard links have to be.
    """
    for path, text in sorted(symlinks.items()):
        link = layout.home / path
        try:
            link.symlink_to(text)
        except FileNotFoundError:
            make_directories(link.parent, layout.widest_mode)
            link.symlink_to(text)
        except FileExistsError:
            if not (link.is_symlink() and str(link.readlink()) == text):
                _clear(link, marks.get(path), is_ours=path in unfinished)
                link.symlink_to(text)
    # Only now: a link may lead through another.
    dangling = {path for path in symlinks if not (layout.home / path).exists()}
    remove_links(layout, dangling)
    return sorted(symlinks.keys() - dangling)


def remove_links(
    layout: DevelLayout,
    paths: Iterable[str],
    marks: Mapping[str, list[int]] = MappingProxyType({}),
    spared: Collection[str] = frozenset(),
) -> None:
    """Remove links that are there no more, and directories that are empty then, save those that are `spared`.

    What a user put in the place of one stays.
    """
    for path in sorted(paths):
        link = layout.home / path
        if _is_the_users(link, marks.get(path), is_ours=path not in marks):
            continue
        link.unlink(missing_ok=True)
        parent = posixpath.dirname(path)
        while parent != layout.tree and parent not in spared and _remove_empty(layout.home / parent):
            parent = posixpath.dirname(parent)


def link_siblings(layout: DevelLayout) -> None:
    """Give a tree that is not in site-packages what it would have beside it there: the trees of the other packages.

    So the archive's links need no change, and neither do RPATH entries of libraries, which lead from tree to tree. On
    Windows there is neither.
    """
    wanted = [] if IS_WINDOWS else layout.siblings
    for link in sorted(layout.home.iterdir()):
        if link.is_symlink() and link.name not in wanted:
            link.unlink()
    for name in wanted:
        link, text = layout.home / name, str(layout.site / name)
        if not (link.is_symlink() and str(link.readlink()) == text):
            _clear(link, None, is_ours=link.is_symlink())
            link.symlink_to(text)


def _is_there(layout: DevelLayout, source: str) -> bool:
    if (layout.site / source).is_file():  # Installers leave empty directories of other versions.
        return True
    if layout.core is not None and is_below(source, layout.core.names.tree):
        raise _damaged(layout.core, source)
    return False


def _damaged(package: InstalledPackage, source: str) -> DevelError:
    name = package.names.distribution
    return DevelError(
        f"{name} {package.version} lacks {source}, which the development tree links to. Reinstall it: "
        f"pip install --force-reinstall --no-deps {name}=={package.version}"
    )


def _mirror(package: InstalledPackage, tree: str) -> list[tuple[str, str]]:
    """Return (path in the devel tree, source) of each SDK file that the package's RECORD lists.

    `__pycache__` is the installer's doing. Forwarders are not for linkers.
    """
    if not package.record.is_file():
        name = package.names.distribution
        raise DevelError(f"{name} has no RECORD in {package.dist_info}, which lists its files. Install it with pip.")
    own = package.names.tree
    sources = [row.path for row in read_record(package.record) if row.path.startswith(own + "/")]
    sdk = [path for path in sources if "/__pycache__/" not in path]
    missing = [path for path in sdk if not (package.site / path).is_file()]
    if missing:
        raise _damaged(package, missing[0])
    return [(tree + source[len(own) :], source) for source in sorted(sdk) if not is_forwarder(package.site / source)]


def is_link_or_copy(path: Path, target: Path) -> bool:
    """Return whether a path leads to the file `target`, or is a copy of that program as it is now."""
    if not path.exists():
        return False
    if path.is_symlink() or path.samefile(target) or not (IS_WINDOWS or _is_program(target)):
        return path.samefile(target)
    copy, original = path.stat(), target.stat()
    return (copy.st_size, copy.st_mtime_ns) == (original.st_size, original.st_mtime_ns)


def _is_the_users(place: Path, was: list[int] | None, *, is_ours: bool) -> bool:
    """Whether a user put something in the place of a link: a directory, or what has not the mark of what was made.

    `is_ours` says whether anything except a directory is left from an earlier call.
    """
    if place.is_dir() and not place.is_symlink():
        return True
    return not is_ours and mark(place) not in ([], was)


def _clear(place: Path, was: list[int] | None, *, is_ours: bool) -> None:
    """Remove what is in the place of a link; what a user put there is kept under another name."""
    if _is_the_users(place, was, is_ours=is_ours):
        warn_of_kept([keep(place, place)])
    else:
        place.unlink(missing_ok=True)


def _link(target: Path, destination: Path, path: str, source: str) -> bool:
    """Make a hard link; where there can be none, copy a program. Return False if it had to be a symbolic link."""
    try:
        os.link(target, destination)
    except OSError as error:
        if error.errno not in _NO_HARD_LINK and getattr(error, "winerror", None) not in _NO_HARD_LINK_ON_WINDOWS:
            raise
        if not (IS_WINDOWS or _is_program(target)):
            destination.symlink_to(posixpath.relpath(source, posixpath.dirname(path)))
            return False
        # The time comes last: by it a copy is known to be whole.
        shutil.copy2(target, destination)
    return True


def _is_program(path: Path) -> bool:
    """Return whether a file is a program or a script; libraries may have the executable bit, too."""
    # By its mode: on a file system that is mounted with noexec, nothing is executable.
    if not path.stat().st_mode & 0o111 or ".so" in path.suffixes:
        return False
    with open(path, "rb") as stream:
        return stream.read(4).startswith((b"#!", b"\x7fELF"))


def _remove_empty(directory: Path) -> bool:
    """Return whether the directory is gone: an interrupted call may have removed it already."""
    try:
        directory.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
