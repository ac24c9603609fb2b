"""Run-time access to the ROCm packages installed in this Python environment.

Frameworks call `initialize_process` before they load their extension modules; tools ask `find_libraries` where a
library lies. The command line is `rocm-sdk` (`rocm_sdk.cli`).

Importing this package costs next to nothing: everything it offers is loaded on first use (PEP 562).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .libraries import find_libraries
    from .preload import preload_libraries
    from .process import initialize_process

    __version__: str

__all__ = ["__version__", "find_libraries", "initialize_process", "preload_libraries"]

_HOME = {
    "find_libraries": "libraries",
    "preload_libraries": "preload",
    "_ALL_CDLLS": "preload",
    "initialize_process": "process",
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        from .version import read_version

        value: object = read_version()
    elif name in _HOME:
        from importlib import import_module

        value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    elif name == "_dist_info":
        from importlib import import_module

        value = import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
