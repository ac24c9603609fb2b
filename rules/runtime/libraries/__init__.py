"""The libraries of this SDK, in whichever of its packages they are.

    load_library("foo")       # loads libfoo and all that it needs, across packages
    find_library("foo")       # its path

Importing this costs next to nothing: everything is loaded on first use (PEP 562).
"""

from __future__ import annotations

import os
from _thread import RLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .packages import LibraryNotFoundError, find_library, load_library

__all__ = ["LibraryNotFoundError", "find_library", "load_library"]


# A fork waits for imports of other threads: in the child, no thread would end them, and it would wait for ever.
_IMPORTING = RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_IMPORTING.acquire, after_in_child=_IMPORTING.release, after_in_parent=_IMPORTING.release
    )


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    with _IMPORTING:
        value: object = getattr(import_module(f"{__name__}.packages"), name)
        globals()[name] = value
    return value
