"""Reads from the ELF files of an install prefix which libraries each one needs, and whether it has device code.

libraries = SharedLibraries(Path("prefix"))
libraries.closure("lib/librocblas.so.5")  # what it needs, and what these need, as paths in the prefix

A library needs those that its ELF header names (DT_NEEDED), and those that it opens when it runs (dlopen). The name of
such a library is a string among its constants, and no header has it (`lib.elf.opened_names`).
"""

import os
import posixpath
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Final

from lib.elf.model import ElfFile, after_origin
from lib.elf.opened_names import read_opened_names
from lib.elf.reader import read_elf
from lib.elf.source import ElfError

#: Where libraries are that no search path leads to: Debian's have none.
_DIRECTORIES: Final = ("lib", "lib64", "lib/rocm_sysdeps/lib", "lib/llvm/lib", "lib/host-math/lib")
#: The section of device code.
_DEVICE_CODE: Final = ".hip_fatbin"


@dataclass(frozen=True)
class _Facts:
    """Facts about a file; empty if it is not an ELF file."""

    soname: str = ""
    #: The libraries that it needs or opens, and the prefix has, as paths in the prefix.
    needed: tuple[str, ...] = ()
    #: The directories of the prefix that its search path leads to before any of the machine's.
    searched: tuple[str, ...] = ()
    has_device_code: bool = False


class SharedLibraries:
    """Reads each library once."""

    def __init__(self, prefix: Path) -> None:
        self._prefix = prefix
        self._facts: dict[str, _Facts] = {}

    def by_soname(self, path: str) -> str:
        """Return the file that is called by a library's SONAME, if there is one, else the library."""
        named = posixpath.join(posixpath.dirname(path), posixpath.basename(self._read(path).soname or path))
        return named if os.path.isfile(self._prefix / named) else path  # noqa: PTH113

    def closure(self, path: str) -> list[str]:
        """Return the libraries of the prefix that a library needs or opens, and that these need or open, sorted."""
        found: set[str] = set()
        waiting = [path]
        while waiting:
            for needed in self._read(waiting.pop()).needed:
                if needed not in found and needed != path:
                    found.add(needed)
                    waiting.append(needed)
        return sorted(found)

    def reaches(self, path: str, other: str) -> bool:
        """Return whether the search path of a library leads to another one, whoever has loaded it."""
        return posixpath.dirname(other) in self._read(path).searched

    def unreached(self, path: str) -> list[str]:
        """Return the libraries of a closure that are needed by a library which does not find them itself, sorted."""
        needers = [path, *self.closure(path)]
        return sorted({other for one in needers for other in self._read(one).needed if not self.reaches(one, other)})

    def has_device_code(self, path: str) -> bool:
        """Return whether a library has device code in itself."""
        return self._read(path).has_device_code

    def _read(self, path: str) -> _Facts:
        if path not in self._facts:
            elf = self._elf(path)
            self._facts[path] = self._facts_of(path, elf) if elf else _Facts()
        return self._facts[path]

    def _elf(self, path: str) -> ElfFile | None:
        """Return what a file says of itself; None for a linker script, or a library for another system."""
        try:
            with open(self._prefix / path, "rb") as file:
                return read_elf(file, path)
        except (ElfError, OSError):
            return None

    def _facts_of(self, path: str, elf: ElfFile) -> _Facts:
        searched = _search_path(elf.runpath or elf.rpath or "", path)
        directories = [*searched, posixpath.dirname(path), *_DIRECTORIES]
        with open(self._prefix / path, "rb") as file:
            opened = [name for name in read_opened_names(file, elf) if name not in (*elf.needed, elf.soname)]
        needed = [one for name in elf.needed if (one := self._find(name, directories))]
        needed += [one for name in opened if (one := self._find(name, directories)) and self._is_called(one, name)]
        return _Facts(
            elf.soname or "",
            tuple(needed),
            tuple(_search_path(":".join(takewhile(_is_relative, (elf.runpath or elf.rpath or "").split(":"))), path)),
            any(one.name == _DEVICE_CODE and one.size for one in elf.section_headers),
        )

    def _is_called(self, path: str, name: str) -> bool:
        """Return whether a name is the SONAME of a library. Others are for linkers, and may be missing at run time."""
        elf = self._elf(path)
        return bool(elf and elf.soname == name)

    def _find(self, name: str, directories: list[str]) -> str | None:
        if "/" in name:  # a path, which the loader takes as it is: no file of the prefix
            return None
        for directory in directories:
            path = posixpath.normpath(posixpath.join(directory, name))
            if not path.startswith("../") and os.path.isfile(self._prefix / path):  # noqa: PTH113
                return path
        return None


def _search_path(text: str, path: str) -> list[str]:
    """Return the directories of a search path that begin where the library is."""
    origin = posixpath.dirname(path) or "."
    return [posixpath.normpath(origin + rest) for rest in map(after_origin, text.split(":")) if rest is not None]


def _is_relative(entry: str) -> bool:
    """Return whether an entry of a search path begins where the library is."""
    return after_origin(entry) is not None
