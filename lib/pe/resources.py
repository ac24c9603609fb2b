"""Reads the resources of a PE image that say what it is: the application manifest and the version.

Resources are a tree of three levels: type, name, language ("The .rsrc Section" of the PE format). The version is a
VS_VERSIONINFO: blocks in blocks, each with a key (https://learn.microsoft.com/windows/win32/menurc/vs-versioninfo).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from typing import Final

from lib.elf.source import MAX_COUNT
from lib.pe import constants as c
from lib.pe.image import Image
from lib.pe.model import Version

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
