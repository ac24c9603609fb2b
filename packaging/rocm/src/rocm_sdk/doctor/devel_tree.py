"""Checks of the development tree: does it fit, is it whole. Nothing is made or changed here."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..errors import DevelError
from .facts import Facts
from .finding import Finding, how_many

REMEDY = "rocm-sdk init"


def development_tree(facts: Facts) -> Iterator[Finding]:
    """Find out whether the tree has all its links, or they can be made when it is needed."""
    layout = facts.layout
    if layout is None:
        return
    try:
        layout.check()
        faults = layout.faults()
    except DevelError as error:
        yield Finding("devel", "problem", str(error))
        return
    places = (layout.devel.site, layout.devel.dist_info)
    unwritable = next((path for path in places if not os.access(path, os.W_OK)), None)
    if faults and unwritable:
        text = f"in the development tree, {faults[0]}{how_many(faults)}, and this user cannot write to {unwritable}"
        remedy = f"Run `{REMEDY}` as a user who can, for example in the layer of an image that installs"
        yield Finding("devel", "problem", text, remedy)
    elif faults and layout.tree.was_finished:
        yield Finding("devel", "problem", f"in the development tree, {faults[0]}{how_many(faults)}", REMEDY)
