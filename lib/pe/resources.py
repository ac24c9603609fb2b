"""Reads the resources of a PE image that say what it is: the application manifest and the version.

Resources are a tree of three levels: type, name, language ("The .rsrc Section" of the PE format). The version is a
VS_VERSIONINFO: blocks in blocks, each with a key (https://learn.microsoft.com/windows/win32/menurc/vs-versioninfo).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from typing import Any, Final

from lib.elf.source import MAX_COUNT, MAX_STRING, MAX_TABLE, ElfError, Source
from lib.pe import constants as c
from lib.pe.model import Section, Version

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


DIRECTORY: Final = Struct("<12xHH")
ENTRY: Final = Struct("<II")
DATA: Final = Struct("<II8x")
#: In an entry: what it leads to is a directory.
IS_DIRECTORY: Final = 1 << 31
BLOCK: Final = Struct("<HHH")
#: Signature, then the versions of file and product: each the two higher numbers, then the two lower ones.
FIXED: Final = Struct("<I4xHHHHHHHH")
FIXED_SIGNATURE: Final = 0xFEEF04BD


def _entries(image: Image, base: int, at: int) -> list[tuple[int, int]]:
    """Read a directory: for each entry what it is called, and where from `base` it leads."""
    named, numbered = image.unpack(DIRECTORY, base + at, "a directory of resources")
    what = f"{named + numbered} resources"
    return image.unpack_all(ENTRY, base + at + DIRECTORY.size, named + numbered, what)


def _first(image: Image, base: int, kind: int) -> bytes | None:
    """Read the first resource of a type, in its first language; None if there is none."""
    if not base:
        return None
    at = next((at for name, at in _entries(image, base, 0) if name == kind), None)
    for _ in range(2):
        if at is None or not at & IS_DIRECTORY:
            break
        at = next((below for _, below in _entries(image, base, at & ~IS_DIRECTORY)), None)
    if at is None:
        return None
    if at & IS_DIRECTORY:
        raise image.error(base, f"resources of type {kind} have more than three levels")
    address, size = image.unpack(DATA, base + at, "the place of a resource")
    return image.read(address, size, f"a resource of type {kind}")


def read_manifest(image: Image, base: int) -> bytes | None:
    """Read the application manifest; `base` is the RVA of the resources, 0 if there are none. Raises ElfError."""
    return _first(image, base, c.RT_MANIFEST)


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of a version: what is below it lies from `children` to `end`, offsets in bytes."""

    key: str
    value: bytes
    children: int
    end: int


def _aligned(at: int) -> int:
    return (at + 3) // 4 * 4


def _blocks(data: bytes, at: int, end: int) -> Iterator[_Block]:
    """Read the blocks from `at` to `end`. Raises ValueError when one does not end in there."""
    for _ in range(MAX_COUNT):
        if at + BLOCK.size > end:
            return
        length, value_length, is_text = BLOCK.unpack_from(data, at)
        if length < BLOCK.size:
            return  # Padding.
        stop = at + length
        key_end = next((n for n in range(at + BLOCK.size, stop - 1, 2) if data[n : n + 2] == b"\0\0"), None)
        if stop > end or key_end is None:
            raise ValueError(f"a block of {length} bytes at {at} does not end by {end}")
        value = min(_aligned(key_end + 2), stop)
        size = value_length * 2 if is_text else value_length
        key = data[at + BLOCK.size : key_end].decode("utf-16-le", "replace")
        yield _Block(key, data[value : min(value + size, stop)], min(_aligned(value + size), stop), stop)
        at = _aligned(stop)


def _strings(data: bytes, at: int, end: int) -> tuple[tuple[str, str], ...]:
    """Read the strings of the first language."""
    for info in _blocks(data, at, end):
        if info.key == "StringFileInfo":
            for table in _blocks(data, info.children, info.end):
                values = [(one.key, one.value) for one in _blocks(data, table.children, table.end)]
                return tuple((key, value.decode("utf-16-le", "replace").partition("\0")[0]) for key, value in values)
    return ()


def read_version(image: Image, base: int) -> Version | None:
    """Read the version; `base` is the RVA of the resources, 0 if there are none. Raises ElfError."""
    data = _first(image, base, c.RT_VERSION)
    if data is None:
        return None
    try:
        root = next(_blocks(data, 0, len(data)), None)
        if root is None or len(root.value) < FIXED.size:
            return None
        signature, *numbers = FIXED.unpack_from(root.value)
        if signature != FIXED_SIGNATURE:
            raise ValueError(f"its signature is {signature:#x}, not {FIXED_SIGNATURE:#x}")
        strings = _strings(data, root.children, root.end)
    except ValueError as error:
        raise image.error(base, f"the version: {error}") from None
    a, b, d, e, f, g, h, i = numbers
    return Version((b, a, e, d), (g, f, i, h), strings)
