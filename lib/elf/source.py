"""Bounded, positioned reading of a file that may be damaged.

Everything that `lib.elf` reads comes through `Source.read`, so that a length or an offset that points outside the
file is an `ElfError` wherever it is met, and a damaged length cannot make the program hold the file in memory.
"""

import os
from struct import Struct
from typing import Any, BinaryIO, Final


class FileError(Exception):
    """Error in a file.

    `path` is the name the caller gave the file, `offset` the file offset in bytes at which the trouble was found, and
    `reason` says what was expected and what was found there.
    """

    def __init__(self, path: str, offset: int, reason: str) -> None:
        super().__init__(path, offset, reason)
        self.path = path
        self.offset = offset
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: at file offset {self.offset:#x}: {self.reason}"


class ElfError(FileError):
    """An ELF file or PE image that cannot be read or edited."""


#: No table that is read whole is larger than this in a sane file, in bytes. The largest seen is LLVM's string table, of
#: 5 MB; of a framework that exports all that it is made of it may be many times as large.
MAX_TABLE: Final = 1 << 29
#: More than this of anything (sections, dynamic entries, notes, symbol versions) is damage, not a real file.
MAX_COUNT: Final = 1 << 16
#: No name, path or search path is longer, in bytes.
MAX_STRING: Final = 1 << 16


class Source:
    """A seekable binary file of `size` bytes, called `path` in errors."""

    __slots__ = ("_file", "path", "size")

    def __init__(self, file: BinaryIO, path: str) -> None:
        self._file = file
        self.path = path
        self.size = file.seek(0, os.SEEK_END)

    def error(self, offset: int, reason: str) -> ElfError:
        """Make an error about this file, to be raised."""
        return ElfError(self.path, offset, reason)

    def require(self, offset: int, size: int, what: str) -> None:
        """Raise ElfError unless `size` bytes from `offset` on lie inside the file (any `offset` if `size` is 0)."""
        if size < 0 or (size and offset + size > self.size):
            raise self.error(
                min(offset, self.size),
                f"truncated or damaged: {what} takes {size} bytes from {offset:#x} on, the file has {self.size}",
            )

    def read(self, offset: int, size: int, what: str) -> bytes:
        """Read exactly `size` bytes from `offset` on; `what` names them in errors."""
        self.require(offset, size, what)
        if size > MAX_TABLE:
            raise self.error(offset, f"{what} claims {size} bytes; no more than {MAX_TABLE} are expected")
        if not size:
            return b""
        self._file.seek(offset)
        data = self._file.read(size)
        if len(data) != size:
            raise self.error(offset + len(data), f"the file ends inside {what}; was it changed while it was read?")
        return data

    def unpack(self, layout: Struct, offset: int, what: str) -> tuple[Any, ...]:
        """Read the fields of the structure `layout` at `offset`."""
        return layout.unpack(self.read(offset, layout.size, what))

    def unpack_all(self, layout: Struct, offset: int, size: int, what: str) -> list[tuple[Any, ...]]:
        """Read the fields of as many structures `layout` as fit into `size` bytes from `offset` on."""
        return list(layout.iter_unpack(self.read(offset, size - size % layout.size, what)))

    def read_string(self, offset: int, end: int, what: str) -> str:
        """Read the NUL-terminated string at `offset` that must end before `end` (a file offset).

        Bytes that are not UTF-8 come back as surrogate escapes, as os.fsdecode does it.
        """
        end = min(end, self.size)
        found = bytearray()
        while (nul := found.find(0)) < 0:
            at = offset + len(found)
            size = min(256 if not found else 4096, end - at)
            if size <= 0 or len(found) > MAX_STRING:
                raise self.error(min(offset, self.size), f"{what} does not end inside its table (at {end:#x})")
            found += self.read(at, size, what)
        return found[:nul].decode("utf-8", "surrogateescape")
