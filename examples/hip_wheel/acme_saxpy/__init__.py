"""a * x + y, on an AMD GPU."""

import ctypes
from collections.abc import Sequence
from pathlib import Path

from acme_saxpy import _rocm_init

_rocm_init.initialize()
_library = ctypes.CDLL(str(Path(__file__).with_name("libsaxpy.so")))
_library.saxpy.restype = ctypes.c_char_p


def saxpy(a: float, x: Sequence[float], y: Sequence[float]) -> list[float]:
    """Return a * x + y. Raises RuntimeError with what the HIP runtime says if it cannot be computed."""
    floats = ctypes.c_float * len(x)
    result = floats(*y)
    error = _library.saxpy(ctypes.c_float(a), floats(*x), result, ctypes.c_size_t(len(x)))
    if error:
        raise RuntimeError(error.decode())
    return list(result)
