"""Reads the dynamic section of an ELF file: its own name, the libraries it needs, and where to look for them.

Read from the program headers alone, as the dynamic loader does (System V gABI, "Dynamic Linking"), with nothing but the
standard library: `loading` calls `read_dynamic`. The build has a reader of its own, `lib/elf`, which also edits; this
one ships to users and runs on Python 3.9.
"""

from __future__ import annotations

import mmap
import os
import struct
from dataclasses import dataclass
from pathlib import Path

# Names and values of the gABI.
ELF_MAGIC = b"\x7fELF"
ELFCLASS64, ELFDATA2LSB = 2, 1
PT_LOAD, PT_DYNAMIC = 1, 2
DT_NULL, DT_NEEDED, DT_STRTAB, DT_SONAME, DT_RPATH, DT_RUNPATH = 0, 1, 5, 14, 15, 29

_EHDR = struct.Struct("<16sHHIQQQIHHHHHH")
_PHDR = struct.Struct("<IIQQQQQQ")
_DYN = struct.Struct("<qQ")


@dataclass(frozen=True)
class Dynamic:
    """One dynamic section.

    `machine` is e_machine of the file. `soname` is "" if there is none. `search` are the entries of DT_RPATH, or of
    DT_RUNPATH if the file has one, which then counts alone; `$ORIGIN` in them is left as it is.
    """

    machine: int
    soname: str = ""
    needed: tuple[str, ...] = ()
    search: tuple[str, ...] = ()

    def directories(self, origin: Path) -> list[Path]:
        """Return the directories of `search` for a file in the directory `origin`; empty entries are passed over."""
        expanded = [
            entry.replace("${ORIGIN}", str(origin)).replace("$ORIGIN", str(origin)) for entry in self.search if entry
        ]
        return [Path(os.path.normpath(entry)) for entry in expanded]


def is_elf(path: Path) -> bool:
    """Return whether the file begins as ELF files do; raises OSError if it cannot be read."""
    with open(path, "rb") as stream:
        return stream.read(len(ELF_MAGIC)) == ELF_MAGIC


def read_dynamic(path: Path) -> Dynamic | None:
    """Return the dynamic section of the file at `path`.

    None for what is not a 64-bit little-endian ELF file, or has no dynamic section (static programs, object files, most
    device code). Raises ValueError for a damaged file, and OSError if it cannot be read.
    """
    with open(path, "rb") as stream:
        ident = stream.read(6)
        if ident != ELF_MAGIC + bytes((ELFCLASS64, ELFDATA2LSB)):
            return None
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                return _parse(data)
            except (struct.error, OverflowError, ValueError) as error:
                raise ValueError(f"{path}: damaged ELF file, its dynamic section cannot be read ({error})") from error


def _parse(data: mmap.mmap) -> Dynamic | None:
    fields = _EHDR.unpack_from(data)
    machine, start, size, count = fields[2], fields[5], fields[9], fields[10]
    segments = [_PHDR.unpack_from(data, start + number * size) for number in range(count)]
    # Of each: type, flags, file offset, address, physical address, bytes in the file, bytes in memory, alignment.
    section = next((segment for segment in segments if segment[0] == PT_DYNAMIC), None)
    if section is None or not section[5]:  # separate debug information has headers without bytes
        return None
    entries = _entries(data, section[2], section[5])
    addresses = [value for tag, value in entries if tag == DT_STRTAB]
    if not addresses:
        raise ValueError("no DT_STRTAB")
    strings = _file_offset(segments, addresses[0])

    def texts(tag: int) -> list[str]:
        return [_text(data, strings + value) for found, value in entries if found == tag]

    search = texts(DT_RUNPATH) or texts(DT_RPATH)
    return Dynamic(
        machine,
        "".join(texts(DT_SONAME)[:1]),
        tuple(texts(DT_NEEDED)),
        tuple(entry for text in search for entry in text.split(":")),
    )


def _entries(data: mmap.mmap, start: int, size: int) -> list[tuple[int, int]]:
    """Return (tag, value) of the entries before DT_NULL; `start` is a file offset, `size` in bytes."""
    found = []
    for offset in range(start, start + size, _DYN.size):
        tag, value = _DYN.unpack_from(data, offset)
        if tag == DT_NULL:
            break
        found.append((tag, value))
    return found


def _file_offset(segments: list[tuple[int, ...]], address: int) -> int:
    for kind, _, offset, start, _, size, *_ in segments:
        if kind == PT_LOAD and start <= address < start + size:
            return offset + address - start
    raise ValueError(f"address {address:#x} is in no segment")


def _text(data: mmap.mmap, offset: int) -> str:
    end = data.find(b"\0", offset)
    if not 0 < offset < end:
        # An empty string is as wrong as one without an end: nothing that is read here may be empty but a search path.
        if end == offset:
            return ""
        raise ValueError(f"no string at byte {offset}")
    return os.fsdecode(data[offset:end])
