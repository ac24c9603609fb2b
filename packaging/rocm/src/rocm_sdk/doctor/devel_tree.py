"""Checks of the development tree: can it be made, is it whole. Nothing is made or changed here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..devel.failures import read_only_remedy
from ..devel.layout import DevelLayout
from ..devel.state import find_damage, is_current, read_content, read_state
from ..devel.trust import require_trust
from ..errors import DevelError
from ..record import is_below, read_record
from .facts import Facts
from .finding import Finding, how_many

REMEDY = "rocm-sdk init"


def development_tree(facts: Facts) -> Iterator[Finding]:
    """Find out whether the tree is whole, or can be made when it is needed."""
    layout = facts.layout
    if layout is None:
        return
    try:
        layout.check()
        if layout.is_plain:  # Then RECORD lists its files.
            return
        require_trust(layout)
        state, content = read_state(layout), read_content(layout)
        if state is None or content is None or state.changing:
            layout.require_archive()
    except DevelError as error:
        yield Finding("devel", "problem", str(error))
        return
    if state is None or content is None or state.changing:
        yield from _unmade(layout)
    elif is_current(layout):
        damage = find_damage(layout, content)
        if damage:
            text = f"in the development tree, {layout.home / damage[0]} is missing or changed{how_many(damage)}"
            yield Finding("devel", "problem", text, REMEDY)
    elif _unwritable(layout):
        text = f"the development tree is not up to date, and this user cannot write to {_unwritable(layout)}"
        yield Finding("devel", "warning", text, read_only_remedy(layout))


def _unmade(layout: DevelLayout) -> Iterator[Finding]:
    if _unwritable(layout):
        text = f"the development tree has to be made, but this user cannot write to {_unwritable(layout)}"
        yield Finding("devel", "problem", text, read_only_remedy(layout))
    elif _was_made(layout):
        text = f"the development tree {layout.root} is not whole any more; it will be made again when it is needed"
        yield Finding("devel", "note", text, f"To make it now: {REMEDY}")


def _was_made(layout: DevelLayout) -> bool:
    rows = read_record(layout.record) if layout.record.is_file() else []
    return any(is_below(row.path, layout.tree) for row in rows)


def _unwritable(layout: DevelLayout) -> Path | None:
    """Return a file or directory that this user would have to write to for making the tree, and cannot."""
    home = layout.home
    while not home.exists():
        home = home.parent
    needed = [home] if layout.is_elsewhere else [home, layout.lock_file, layout.record.parent]
    return next((path for path in needed if not os.access(path, os.W_OK)), None)
