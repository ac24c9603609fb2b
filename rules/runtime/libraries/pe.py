"""Lists the DLLs that a DLL or EXE of Windows (a PE image) needs, from the import tables that the loader reads.

Read with nothing but the standard library, for preloading. The build has a reader of its own, `lib/pe`.
Microsoft, "PE Format": https://learn.microsoft.com/windows/win32/debug/pe-format.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path

_DOS_MAGIC, _PE_MAGIC, _PE32_PLUS = b"MZ", b"PE\0\0", 0x20B
_HEADER = struct.Struct("<4sHH12xHH")
_SECTION = struct.Struct("<8xIIII16x")
# By the number of the data directory: the descriptor of one DLL, of which the name's address is the first field here.
_TABLES = {1: struct.Struct("<12xI4x"), 13: struct.Struct("<4xI24x")}
_DIRECTORIES_AT = {_PE32_PLUS: 112}


def needed_dlls(path: Path) -> tuple[str, ...]:
    """Return the names of the DLLs that an image needs, at start and when it first calls them, in the file's order.

    A file that is not a PE image needs none. Raises ValueError for a damaged image, and OSError if it cannot be read.
    """
    with open(path, "rb") as stream:
        if stream.read(2) != _DOS_MAGIC:
            return ()
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return tuple(dict.fromkeys(_names(data)))
            except (struct.error, IndexError, ValueError) as error:
                raise ValueError(f"{path}: damaged PE image, its imports cannot be read ({error})") from error


def _names(data: mmap.mmap) -> Iterator[str]:
    (begin,) = struct.unpack_from("<I", data, 0x3C)
    magic, _, count, size, _ = _HEADER.unpack_from(data, begin)
    if magic != _PE_MAGIC:
        return
    begin += _HEADER.size
    sections = [_SECTION.unpack_from(data, begin + size + number * _SECTION.size) for number in range(count)]
    (kind,) = struct.unpack_from("<H", data, begin)
    directories = begin + _DIRECTORIES_AT.get(kind, 96)
    (known,) = struct.unpack_from("<I", data, directories - 4)
    for number, descriptor in _TABLES.items():
        (address,) = struct.unpack_from("<I", data, directories + 8 * number) if number < known else (0,)
        offset = _offset(sections, address) if address else len(data)
        while offset < len(data):
            (name,) = descriptor.unpack_from(data, offset)
            if not name:
                break
            at = _offset(sections, name)
            yield data[at : data.find(b"\0", at)].decode("utf-8", "replace")
            offset += descriptor.size


def _offset(sections: list[tuple[int, ...]], address: int) -> int:
    """Return the file offset of an address (an RVA)."""
    for size, start, in_file, offset in sections:
        if start <= address < start + max(size, in_file):
            return offset + address - start
    raise ValueError(f"address {address:#x} is in no section")
