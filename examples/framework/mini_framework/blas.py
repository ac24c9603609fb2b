"""Calls the framework's library."""

import ctypes
from pathlib import Path

_LIBRARY = ctypes.CDLL(str(Path(__file__).with_name("libmini_blas.so")))


def depth() -> int:
    """Return how many libraries a call through rocBLAS goes through."""
    return int(_LIBRARY.mini_blas_depth())
