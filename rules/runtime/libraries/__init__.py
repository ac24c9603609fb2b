"""The libraries of this SDK, in whichever of its packages they are.

    load_library("foo")               # loads libfoo and all that it needs, across packages
    find_library("foo").found_via     # loaded, package, conda, system or variable
    problems()                        # what does not belong together, in sentences
    installed_packages()              # distribution, version and place of each

Importing this costs next to nothing: everything is loaded on first use (PEP 562).
"""

from __future__ import annotations

import os
from _thread import RLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .search import Found, LibraryNotFoundError, find_library, load_library, problems
    from .table import Installed, installed_packages

__all__ = [
    "Found",
    "Installed",
    "LibraryNotFoundError",
    "find_library",
    "installed_packages",
    "load_library",
    "problems",
]


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

    home = "table" if name in ("Installed", "installed_packages") else "search"
    with _IMPORTING:
        value: object = getattr(import_module(f"{__name__}.{home}"), name)
        globals()[name] = value
    return value
