"""Loads a shared library that is a resource beside a Python module, in a folder as in a zip application.

    library = load_beside(__name__, "deflater.so")

The dynamic loader takes files only, so a member of a zip application is loaded from a file in memory.
"""

import ctypes
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

#: Function -> the type of its result, and the types of its arguments.
Functions = Mapping[str, tuple[Any, Sequence[Any]]]


def load_beside(module: str, name: str) -> ctypes.CDLL:
    """Load the library `name` that lies beside the imported module called `module`.

    Raises FileNotFoundError, which says how such a library is made, if there is none, OSError if it cannot be loaded.
    """
    # Not importlib.resources, which does not see into archives without __init__.py.
    loader: Any = sys.modules[module].__loader__
    path = Path(str(sys.modules[module].__file__)).with_name(name)
    try:
        content = loader.get_data(str(path))
    except OSError:
        raise FileNotFoundError(
            f"{path}: no such library; Bazel builds it: run the program with Bazel, or link the library there "
            "(CONTRIBUTING.md)"
        ) from None
    descriptor = os.memfd_create(name)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(content)
    # The descriptor stays open as long as the process lives. The loader knows libraries by their paths: were the
    # number used again for another library, it would take that one for this.
    return ctypes.CDLL(f"/proc/self/fd/{descriptor}")


def declare(library: ctypes.CDLL, functions: Functions) -> ctypes.CDLL:
    """Say what functions of a library take and return; returns the library."""
    for name, (result, arguments) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library
