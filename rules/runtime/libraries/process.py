"""What this process has loaded, as the loader of Linux or Windows says it."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

_RTLD_DI_LINKMAP = 2


def find_loaded(name: str) -> Path | None:
    """Return the path of a library that is loaded under this name; None if there is none."""
    if sys.platform == "win32":
        kernel = ctypes.WinDLL("kernel32")
        kernel.GetModuleHandleW.restype = ctypes.c_void_p
        handle = kernel.GetModuleHandleW(ctypes.c_wchar_p(name))
        return _module_path(handle) if handle else None
    try:
        return path_of(ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_NOW))
    except OSError:
        return None


def path_of(library: ctypes.CDLL) -> Path:
    """Return where the loader found a library (dlinfo(3), GetModuleFileName)."""
    if sys.platform == "win32":
        return _module_path(library._handle)
    start = ctypes.POINTER(_LinkMap)()
    ask = ctypes.CDLL(None).dlinfo
    ask.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    if ask(library._handle, _RTLD_DI_LINKMAP, ctypes.byref(start)):
        raise OSError(f"{library._name}: the loader does not say where it found this library")
    return Path(os.fsdecode(start.contents.name)).absolute()


def loaded_files() -> list[Path]:
    """Return the files of libraries in this process (proc(5), EnumProcessModules), sorted."""
    if sys.platform == "win32":
        kernel = ctypes.WinDLL("kernel32")
        kernel.GetCurrentProcess.restype = ctypes.c_void_p
        enumerate_modules = kernel.K32EnumProcessModules
        enumerate_modules.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p)
        modules, size = (ctypes.c_void_p * 4096)(), ctypes.c_uint32()
        given = (kernel.GetCurrentProcess(), modules, ctypes.sizeof(modules), ctypes.byref(size))
        if not enumerate_modules(*given):
            raise ctypes.WinError()
        count = size.value // ctypes.sizeof(ctypes.c_void_p)
        return sorted(_module_path(handle) for handle in modules[:count] if handle)
    lines = Path("/proc/self/maps").read_text("utf-8", "surrogateescape").split("\n")
    names = {line.split(None, 5)[-1] for line in lines if "/" in line}
    return sorted(Path(name) for name in names if ".so" in name)


class _LinkMap(ctypes.Structure):
    """The beginning of `struct link_map`."""

    _fields_ = (("address", ctypes.c_void_p), ("name", ctypes.c_char_p))


def _module_path(handle: int) -> Path:
    """Return the path of a module of Windows."""
    name = ctypes.create_unicode_buffer(1 << 15)
    if sys.platform == "win32":
        ask = ctypes.WinDLL("kernel32").GetModuleFileNameW
        ask.argtypes = (ctypes.c_void_p, ctypes.c_wchar_p, ctypes.c_uint32)
        ask(handle, name, len(name))
    return Path(name.value)
