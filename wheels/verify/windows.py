"""Facts about Windows for checks: which wheels are for Windows, and which package owns a needed DLL.

    is_for_windows(wheel.tags)
    is_system("kernel32.dll"), is_redistributable("msvcp140.dll")

Names of DLLs are in lower case, as `lib.pe.model` has them.
"""

import re
from collections.abc import Collection
from typing import Final

from packaging.tags import Tag

from lib.elf.platforms import WINDOWS_CPUS
from lib.pe import constants as c
from lib.wheel.platform_policy import policies_of

#: Platform tags of Windows -> the Machine of PE images that they are for.
PLATFORMS: Final = {f"win_{cpu.go_name}": cpu.pe_machine for cpu in WINDOWS_CPUS} | {"win32": c.IMAGE_FILE_MACHINE_I386}
#: The interpreter's own DLL, which every extension module needs.
_INTERPRETER: Final = re.compile(r"(?:python\d+t?|libpypy[\d.]+-c)\.dll")
#: What Microsoft's redistributable packages install: runtimes of C, C++, OpenMP and MFC, whatever their version.
_NAME: Final = r"(?:concrt|mfcm?|msvc[mpr]|vcamp|vccorlib|vcomp|vcruntime)\d+"
_REDISTRIBUTABLE: Final = re.compile(rf"{_NAME}u?(?:_[a-z0-9_]+)?\.dll")


def is_for_windows(tags: Collection[Tag]) -> bool:
    """Whether a wheel with these tags is for Windows alone."""
    return bool(tags) and all(tag.platform in PLATFORMS for tag in tags)


def is_system(name: str) -> bool:
    """Whether every Windows with CPython has a DLL of this name: Windows itself, or the interpreter."""
    return policies_of("amd64")[0].has_library(name) or bool(_INTERPRETER.fullmatch(name))


def is_redistributable(name: str) -> bool:
    """Whether a DLL is part of Microsoft's runtimes, which users can install, and many programs do."""
    return bool(_REDISTRIBUTABLE.fullmatch(name))
