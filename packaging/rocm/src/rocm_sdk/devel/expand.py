"""Making the development tree, and keeping it as the installed packages want it.

What an interruption leaves behind is always recognised: RECORD names the tree before its first file is made, and links
before they are; the state says that links are changing before the first does, and is written last. So the next call
starts over, or does the rest; and an uninstallation instead of it removes everything.
"""

from __future__ import annotations

import shutil
import warnings
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..errors import DevelError, DevelReadOnlyError
from ..lock import exclusive_lock
from ..output import complain
from ..progress import progress_bar
from ..record import Row, is_below, read_record, replace_below
from .archive import ArchiveSource, unpack
from .failures import explained_errors, full_message
from .files import make_directories
from .layout import DevelLayout, find_layout
from .links import link_siblings, make_hard_links, make_symlinks, remove_links, wanted_hard_links
from .space import Space, find_lack
from .state import (
    Content,
    State,
    TreeContent,
    describe_basis,
    find_damage,
    is_current,
    is_same_archive,
    mark_file,
    mark_packages,
    order_targets,
    read_content,
    read_state,
    write_content,
    write_rows,
    write_state,
)
from .trust import require_trust
from .user_files import bring_back, mark, set_aside


def update(layout: DevelLayout, verify: bool, quiet: bool = False) -> None:
    """Make the tree of `layout`, or change what has to change; raises DevelError.

    A tree that is whole but not up to date stays usable where it cannot be written: that is a warning.
    """
    layout.check()
    try:
        with explained_errors(layout):
            _prepare_home(layout)
            with exclusive_lock(layout.lock_file, None if quiet else partial(_tell_of_lock, layout)):
                _update_locked(find_layout(), verify, quiet)
    except DevelReadOnlyError as error:
        state, content = read_state(layout), read_content(layout)
        if state is None or state.changing or content is None:
            raise
        if is_current(layout) and _is_usable(layout, state, content, verify):
            return
        warnings.warn(f"the development tree is not up to date: {error}", RuntimeWarning, stacklevel=3)


def renew_basis(layout: DevelLayout) -> None:
    """Let the next console script see at a glance that the tree is up to date, where that can be written."""
    with suppress(OSError), exclusive_lock(layout.lock_file):
        state = read_state(layout)
        if state is not None and is_current(layout):
            write_state(layout, replace(state, basis=describe_basis(layout)))


def _tell_of_lock(layout: DevelLayout) -> None:
    """Say on standard error what this process waits for: another one makes the tree, maybe for minutes."""
    complain(f"waiting for another process that works on {layout.root} (it has locked {layout.lock_file})")


def _prepare_home(layout: DevelLayout) -> None:
    """Make the directory for a tree that is not in site-packages, with what other code finds in site-packages.

    Others may have been faster, or may have links there: so what is made is looked at before it is used.
    """
    if layout.is_elsewhere:
        make_directories(layout.home, layout.widest_mode)
        require_trust(layout)
        layout.record.touch(mode=0o644)


def _update_locked(layout: DevelLayout, verify: bool, quiet: bool) -> None:
    """Do what is left to do: another process may have done it all while this one waited for the lock."""
    if layout.is_elsewhere:
        link_siblings(layout)
    state = read_state(layout)
    content = read_content(layout)
    if state is None or content is None or not _is_usable(layout, state, content, verify):
        _expand(layout, content, quiet)
    elif verify or not is_current(layout):
        _finish(layout, content, state.archive, state)


def _is_usable(layout: DevelLayout, state: State, content: TreeContent, verify: bool) -> bool:
    """Return whether the tree is from this very devel package and, with `verify`, whole: then links are all to do."""
    same = layout.devel.dist_info.name in state.packages and is_same_archive(layout, state)
    return same and not (verify and find_damage(layout, content))


def _expand(layout: DevelLayout, old: TreeContent | None, quiet: bool) -> None:
    """Make the tree from nothing; whatever fails, nothing of it is left but the user's own files.

    `old` is what the tree held, if that is known; else RECORD tells it.
    """
    archive = layout.require_archive()
    rows = read_record(layout.record)
    listed = {row.path for row in rows if is_below(row.path, layout.tree)}
    layout.state_file.unlink(missing_ok=True)
    # A tree of which RECORD has one row alone was never finished: nobody has worked in it.
    if layout.root.is_dir() and not layout.root.is_symlink() and listed != {layout.tree}:
        known = listed if old is None else listed | old.paths(layout)
        set_aside(layout, {*known, *_own_files(layout)}, {} if old is None else old.marks)
    # One row for the whole tree while it is being made: pip and uv remove a directory that RECORD names.
    if Row(layout.tree) not in rows:
        write_rows(layout, replace_below(rows, layout.tree, [layout.tree]))
    try:
        remove_tree(layout.root)
        unpacked = mark_file(archive)
        _finish(layout, TreeContent(_unpack(layout, archive, quiet), []), unpacked)
    except BaseException:
        remove_tree(layout.root)
        write_rows(layout, replace_below(rows, layout.tree, []))
        bring_back(layout)
        raise


def _own_files(layout: DevelLayout) -> list[str]:
    """Return the paths of the files about the tree."""
    return [path.relative_to(layout.home).as_posix() for path in (layout.state_file, layout.content_file)]


def _unpack(layout: DevelLayout, archive: Path, quiet: bool) -> Content:
    def require_space(need: Space) -> None:
        lack = find_lack(layout.home, need)
        if lack:
            raise DevelError(full_message(layout, lack))

    label = f"Unpacking {layout.devel.names.distribution} {layout.devel.version}"
    with progress_bar(label, archive.stat().st_size, quiet=quiet) as report:
        return unpack(ArchiveSource(archive, layout.home, layout.tree, layout.widest_mode, require_space, report))


def _finish(layout: DevelLayout, old: TreeContent, archive: list[int], state: State | None = None) -> None:
    """Make all links, write RECORD and, last, the state; `archive` is the mark of what `old.archive` came from.

    Removes the links of the last finished call, which `old` and `state` list, and of an unfinished call, which RECORD
    lists.
    """
    content = old.archive
    packages, basis = mark_packages(layout), describe_basis(layout)
    hard_links = wanted_hard_links(content, layout)
    if state is not None:
        write_state(layout, replace(state, changing=True))
    listed = _announce(layout, {*hard_links, *content.symlinks})
    wanted = TreeContent(content, [*hard_links, *content.symlinks]).paths(layout)
    stale = {*old.links, *listed} - wanted - {layout.tree, *content.directories}
    remove_links(layout, stale, old.marks, frozenset(content.directories))
    # What RECORD lists without a mark is of a call that was not finished.
    unfinished = listed - old.marks.keys()
    symbolic = make_hard_links(layout, hard_links, old.marks, unfinished)
    symlinks = make_symlinks(layout, content.symlinks, old.marks, unfinished)
    marks = {path: old.marks.get(path) or mark(layout.home / path) for path in content.files}
    marks.update((path, mark(layout.home / path)) for path in (*hard_links, *symlinks))
    tree = TreeContent(content, sorted([*hard_links, *symlinks]), symbolic, marks)
    write_content(layout, tree)
    write_rows(layout, replace_below(read_record(layout.record), layout.tree, tree.recorded_paths(layout)))
    bring_back(layout)
    packages[layout.devel.dist_info.name] = mark_file(layout.devel.record)
    write_state(layout, State(archive, packages, targets=order_targets(layout), basis=basis))


def _announce(layout: DevelLayout, paths: set[str]) -> set[str]:
    """Write paths into RECORD before they are made, unless it covers them, and return what it listed of the tree."""
    rows = read_record(layout.record)
    listed = {row.path for row in rows if is_below(row.path, layout.tree)}
    new = paths - listed
    if new and layout.tree not in listed:
        write_rows(layout, [*rows, *map(Row, sorted(new))])
    return listed


def remove_tree(root: Path) -> None:
    """Remove the tree, or what is in its place, if there is anything."""
    if root.is_symlink() or root.is_file():
        root.unlink()
    elif root.exists():
        shutil.rmtree(root)
