"""The links of the development tree: what they should be, and making them so.

Three kinds: hard links to the runtime packages' files that the archive names, hard links to all files of the installed
target packages, and the archive's own symbolic links. A link whose other end is not there (its package is not
installed) is not made: installers would not remove it. It is made when the package comes.
"""

from __future__ import annotations

import errno
import os
import posixpath
from collections.abc import Iterable
from pathlib import Path

from ..errors import DevelError
from ..installation import InstalledPackage
from ..record import is_below, read_record
from .layout import DevelLayout
from .state import Content

# What link(2) says when a hard link cannot be, but a symbolic one can: other device, no such feature, too many, not
# permitted (protected_hardlinks).
_NO_HARD_LINK = frozenset((errno.EXDEV, errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS))


def wanted_hard_links(content: Content, layout: DevelLayout) -> dict[str, str]:
    """Return the hard links to be, as path and source relative to site-packages.

    The archive's come first, then the target packages' in order. Raises DevelError if core lacks a file.
    """
    links = {path: source for path, source in content.outward.items() if _is_there(layout, source)}
    taken = {*content.files, *content.directories, *content.symlinks, *links}
    for package in layout.targets:
        for path, source in _mirror(package, layout.tree):
            if path not in taken:
                taken.add(path)
                links[path] = source
    return links


def make_hard_links(layout: DevelLayout, links: dict[str, str]) -> None:
    """Make each path a hard link to its source, or a symbolic link where the file system refuses one."""
    for path, source in sorted(links.items()):
        target, destination = layout.site / source, layout.site / path
        if not _is_linked(destination, target):
            destination.parent.mkdir(parents=True, exist_ok=True)
            destination.unlink(missing_ok=True)
            _link(target, destination, path, source)


def make_symlinks(layout: DevelLayout, symlinks: dict[str, str]) -> list[str]:
    """Make the symbolic links (path relative to site-packages, text) that lead somewhere; return their paths."""
    for path, text in sorted(symlinks.items()):
        link = layout.site / path
        if not (link.is_symlink() and link.readlink() == Path(text)):
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(text)
    # Only now: a link may lead through another.
    dangling = {path for path in symlinks if not (layout.site / path).exists()}
    remove_links(layout, dangling)
    return sorted(symlinks.keys() - dangling)


def remove_links(layout: DevelLayout, paths: Iterable[str], keep: frozenset[str] = frozenset()) -> None:
    """Remove links that are there no more, and directories that are empty then, save those in `keep`."""
    for path in sorted(paths):
        (layout.site / path).unlink(missing_ok=True)
        parent = posixpath.dirname(path)
        while parent != layout.tree and parent not in keep and _remove_empty(layout.site / parent):
            parent = posixpath.dirname(parent)


def _is_there(layout: DevelLayout, source: str) -> bool:
    if (layout.site / source).exists():
        return True
    if layout.core is not None and is_below(source, layout.core.names.tree):
        raise DevelError(
            f"{layout.core.names.distribution} {layout.core.version} lacks {source}, which the development tree links "
            f"to. Reinstall it: pip install --force-reinstall --no-deps "
            f"{layout.core.names.distribution}=={layout.core.version}"
        )
    return False


def _mirror(package: InstalledPackage, tree: str) -> list[tuple[str, str]]:
    """Return (path in the devel tree, source) of each SDK file that the package's RECORD lists.

    A hidden file at the top of a tree is the package's own mark, and `__pycache__` is the installer's doing.
    """
    own = package.names.tree
    sources = [row.path for row in read_record(package.record) if row.path.startswith(own + "/")]
    sdk = [path for path in sources if not path.startswith(own + "/.") and "/__pycache__/" not in path]
    return [(tree + source[len(own) :], source) for source in sorted(sdk)]


def _is_linked(path: Path, target: Path) -> bool:
    try:
        return path.samefile(target)
    except FileNotFoundError:
        return False


def _link(target: Path, destination: Path, path: str, source: str) -> None:
    try:
        os.link(target, destination)
    except OSError as error:
        if error.errno not in _NO_HARD_LINK:
            raise
        destination.symlink_to(posixpath.relpath(source, posixpath.dirname(path)))


def _remove_empty(directory: Path) -> bool:
    """Return whether the directory is gone: an interrupted call may have removed it already."""
    try:
        directory.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
