"""Run-time access to the ROCm packages installed in this Python environment.

Frameworks call `initialize_process` before they load their extension modules; tools ask `find_libraries` where a
library lies. The command line is `rocm-sdk` (`rocm_sdk.cli`).

Importing this package costs next to nothing: everything it offers is loaded on first use (PEP 562).
"""

from __future__ import annotations

import os
from _thread import RLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .libraries import find_libraries
    from .process import initialize_process, preload_libraries

    __version__: str

__all__ = ["__version__", "find_libraries", "initialize_process", "preload_libraries"]

_HOME = {
    "find_libraries": "libraries",
    "preload_libraries": "process",
    "_ALL_CDLLS": "process",
    "initialize_process": "process",
}
# A fork waits for imports of other threads: in the child, no thread would end them, and it would wait for ever.
_IMPORTING = RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_IMPORTING.acquire, after_in_child=_IMPORTING.release, after_in_parent=_IMPORTING.release
    )


def __getattr__(name: str) -> object:
    with _IMPORTING:
        value = globals()[name] = _find(name)
    return value


def _find(name: str) -> object:
    if name == "__version__":
        from .version import read_version

        return read_version()
    from importlib import import_module

    if name == "_dist_info":
        return import_module(f"{__name__}.{name}")
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
