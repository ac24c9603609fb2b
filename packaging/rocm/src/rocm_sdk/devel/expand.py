"""Making the development tree, and keeping it as the installed packages want it.

What an interruption leaves behind is always recognised: RECORD names the tree before its first file is made, and the
state is written last. So the next call starts over, and an uninstallation instead of it removes everything.
"""

from __future__ import annotations

import errno
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import DevelError, DevelReadOnlyError
from ..lock import exclusive_lock
from ..record import Row, is_below, read_record, replace_below, write_record
from .archive import READ_ERRORS, unpack
from .layout import DevelLayout, find_layout
from .links import make_hard_links, make_symlinks, remove_links, wanted_hard_links
from .state import (
    Content,
    State,
    TreeContent,
    is_current,
    is_same_archive,
    mark_file,
    mark_packages,
    read_content,
    read_state,
    write_content,
    write_state,
)

_READ_ONLY = frozenset((errno.EACCES, errno.EPERM, errno.EROFS))
_FULL = frozenset((errno.ENOSPC, errno.EDQUOT))


def update(layout: DevelLayout, verify: bool) -> None:
    """Make the tree of `layout`, or change what has to change; raises DevelError.

    A tree that is whole but not up to date stays usable where it cannot be written: that is a warning.
    """
    layout.check()
    try:
        with _explained_errors(layout), exclusive_lock(layout.lock_file):
            _update_locked(find_layout(), verify)
    except DevelReadOnlyError as error:
        state, content = read_state(layout), read_content(layout)
        if state is None or content is None:
            raise
        if is_current(layout) and _is_usable(layout, state, content, verify):
            return
        warnings.warn(f"the development tree is not up to date: {error}", RuntimeWarning, stacklevel=3)


def _update_locked(layout: DevelLayout, verify: bool) -> None:
    """Do what is left to do: another process may have done it all while this one waited for the lock."""
    state = read_state(layout)
    content = read_content(layout)
    if state is None or content is None or not _is_usable(layout, state, content, verify):
        _expand(layout)
    elif verify or not is_current(layout):
        _finish(layout, content.archive, content.links, state.archive)


def _is_usable(layout: DevelLayout, state: State, content: TreeContent, verify: bool) -> bool:
    """Return whether the tree is from this very devel package and, with `verify`, whole: then links are all to do."""
    same = layout.devel.dist_info.name in state.packages and is_same_archive(layout, state)
    return same and (not verify or _is_whole(layout, content))


def _is_whole(layout: DevelLayout, content: TreeContent) -> bool:
    return all((layout.site / path).exists() for path in content.recorded_paths(layout))


def _expand(layout: DevelLayout) -> None:
    """Make the tree from nothing; whatever fails, nothing of it is left."""
    archive = layout.require_archive()
    rows = read_record(layout.devel.record)
    layout.state_file.unlink(missing_ok=True)
    # One row for the whole tree while it is being made: pip and uv remove a directory that RECORD names.
    write_record(layout.devel.record, replace_below(rows, layout.tree, [layout.tree]))
    try:
        _remove_tree(layout.root)
        _check_space(layout, archive)
        mark = mark_file(archive)
        _finish(layout, unpack(archive, layout.site, layout.tree), [], mark)
    except BaseException:
        _remove_tree(layout.root)
        write_record(layout.devel.record, replace_below(rows, layout.tree, []))
        raise


def _finish(layout: DevelLayout, content: Content, old_links: list[str], archive: list[int]) -> None:
    """Make all links, write RECORD and, last, the state; `archive` is the mark of what `content` came from.

    Links to be removed are those of the last call that was finished, and what RECORD lists of one that was not.
    """
    packages = mark_packages(layout)
    hard_links = wanted_hard_links(content, layout)
    listed = _announce(layout, {*hard_links, *content.symlinks})
    wanted = TreeContent(content, [*hard_links, *content.symlinks]).recorded_paths(layout)
    stale = {*old_links, *listed} - wanted - {layout.tree, *content.directories}
    remove_links(layout, stale, keep=frozenset(content.directories))
    make_hard_links(layout, hard_links)
    symlinks = make_symlinks(layout, content.symlinks)
    tree = TreeContent(content, sorted([*hard_links, *symlinks]))
    write_content(layout, tree)
    rows = read_record(layout.devel.record)
    write_record(layout.devel.record, replace_below(rows, layout.tree, tree.recorded_paths(layout)))
    packages[layout.devel.dist_info.name] = mark_file(layout.devel.record)
    write_state(layout, State(archive, packages))


def _announce(layout: DevelLayout, paths: set[str]) -> set[str]:
    """Write paths into RECORD before they are made, unless it covers them, and return what it listed of the tree."""
    rows = read_record(layout.devel.record)
    listed = {row.path for row in rows if is_below(row.path, layout.tree)}
    new = paths - listed
    if new and layout.tree not in listed:
        write_record(layout.devel.record, [*rows, *map(Row, sorted(new))])
    return listed


def _remove_tree(root: Path) -> None:
    if root.is_symlink() or root.is_file():
        root.unlink()
    elif root.exists():
        shutil.rmtree(root)


def _check_space(layout: DevelLayout, archive: Path) -> None:
    """Raise DevelError if the archive alone is larger than what is free, before anything is written."""
    needed = archive.stat().st_size
    free = shutil.disk_usage(layout.site).free
    if free < needed:
        raise DevelError(_full_message(layout, f"{needed} bytes or more are needed, {free} are free"))


@contextmanager
def _explained_errors(layout: DevelLayout) -> Iterator[None]:
    """Turn what the system says into what a user can do."""
    try:
        yield
    except READ_ERRORS as error:
        raise DevelError(
            f"{layout.glue}: the archive of the development tree is broken ({error}). Reinstall it: pip install "
            f"--force-reinstall --no-deps {layout.devel.names.distribution}=={layout.devel.version}"
        ) from error
    except OSError as error:
        if error.errno in _FULL:
            raise DevelError(_full_message(layout, str(error))) from error
        if error.errno in _READ_ONLY:
            raise DevelReadOnlyError(
                f"{layout.root} cannot be written ({error}). Run `rocm-sdk init` once as a user who can write to "
                f"{layout.site}, for example when the image is built, or install into a virtual environment."
            ) from error
        raise DevelError(f"{layout.root} could not be made: {error}") from error


def _full_message(layout: DevelLayout, what: str) -> str:
    return f"not enough space for the development tree {layout.root}: {what}. Free some and run `rocm-sdk init`."
