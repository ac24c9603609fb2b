"""Reads a PE image by address: what the loader of Windows would find there, without loading it."""

from struct import Struct
from typing import Any, Final

from lib.elf.source import MAX_STRING, MAX_TABLE, ElfError, Source
from lib.pe.model import Section

#: Strings are read in pieces of this size, in bytes.
PIECE: Final = 256


class Image:
    """An image in a file. Addresses are RVAs; an address outside of the image is an error in the file."""

    def __init__(self, source: Source, size_of_headers: int, sections: tuple[Section, ...]) -> None:
        self._source = source
        self._size_of_headers = min(size_of_headers, source.size)
        self._sections = sections
        # Tables that lead into each other could be read for ever. In a real image they do not.
        self._left = 2 * source.size + MAX_STRING

    def _place(self, address: int, what: str) -> tuple[int, int, int]:
        """Return where an address lies: the file offset, the bytes in the file from there, those in memory."""
        if 0 <= address < self._size_of_headers:
            return address, self._size_of_headers - address, self._size_of_headers - address
        for section in self._sections:
            at = address - section.virtual_address
            if 0 <= at < section.size_in_memory:
                in_file = min(section.size_of_raw_data, section.size_in_memory) if section.pointer_to_raw_data else 0
                return section.begin + at, max(in_file - at, 0), section.size_in_memory - at
        raise self._source.error(0, f"{what} is at RVA {address:#x}, which is in no section")

    def error(self, address: int, reason: str) -> ElfError:
        """Make an error about what is at an address, to be raised."""
        offset, _, _ = self._place(address, reason)
        return self._source.error(min(offset, self._source.size), reason)

    def _spend(self, address: int, size: int, what: str) -> None:
        self._left -= size
        if self._left < 0:
            raise self.error(address, f"{what}: with it, tables have more than twice the bytes of the file")

    def _read(self, address: int, size: int, what: str) -> bytes:
        offset, in_file, in_memory = self._place(address, what)
        if size > min(in_memory, MAX_TABLE):
            raise self.error(address, f"{what} takes {size} bytes from RVA {address:#x} on; there are {in_memory}")
        return self._source.read(offset, min(size, in_file), what).ljust(size, b"\0")

    def read(self, address: int, size: int, what: str) -> bytes:
        """Read exactly `size` bytes; `what` names them in errors. What a section has beyond the file is zero."""
        if not size:
            return b""
        self._spend(address, size, what)
        return self._read(address, size, what)

    def unpack(self, layout: Struct, address: int, what: str) -> tuple[Any, ...]:
        """Read the fields of the structure `layout`."""
        return layout.unpack(self.read(address, layout.size, what))

    def unpack_all(self, layout: Struct, address: int, count: int, what: str) -> list[tuple[Any, ...]]:
        """Read the fields of `count` structures `layout`."""
        return list(layout.iter_unpack(self.read(address, layout.size * count, what)))

    def string(self, address: int, what: str) -> str:
        """Read a NUL-terminated string; bytes that are not UTF-8 come back as surrogate escapes."""
        found = bytearray()
        while (nul := found.find(0)) < 0:
            at = address + len(found)
            if len(found) > MAX_STRING:
                raise self.error(address, f"{what} is longer than {MAX_STRING} bytes")
            _, _, in_memory = self._place(at, what)
            found += self._read(at, min(PIECE, in_memory), what)
        self._spend(address, nul + 1, what)
        return found[:nul].decode("utf-8", "surrogateescape")
