"""Loads the library as AMD's amdsmi does: from the tree that this file lies in, by SONAME."""

import ctypes
from pathlib import Path

LIBRARY = Path(__file__).resolve().parents[3] / "lib/libamd_smi.so.26"
amd_smi = ctypes.CDLL(str(LIBRARY))
