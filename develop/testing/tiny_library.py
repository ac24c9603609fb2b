"""Makes shared libraries of a few hundred bytes that the dynamic loader loads: no code, no symbols, only names.

    data = tiny_library("libb.so.1", needed=("liba.so.1",), rpath="$ORIGIN")

One segment, read and written, holds it all (System V gABI, "Program Header", "Dynamic Section").
"""

from __future__ import annotations

import platform
import struct

MACHINES = {"x86_64": 62, "aarch64": 183}
ET_DYN, EV_CURRENT = 3, 1
PT_LOAD, PT_DYNAMIC, PT_GNU_STACK = 1, 2, 0x6474E551
DT_NULL, DT_NEEDED, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_SYMENT = 0, 1, 4, 5, 6, 10, 11
SHT_PROGBITS, SHT_STRTAB = 1, 3
DT_SONAME, DT_RPATH, DT_RUNPATH = 14, 15, 29
PAGE = 0x10000
HEADERS = 64 + 3 * 56


def tiny_library(soname: str = "", needed: tuple[str, ...] = (), rpath: str = "", runpath: str = "") -> bytes:
    """Return the file for this machine's CPU; what is empty is left out."""
    strings = b"\0"
    entries = []
    for tag, text in [
        (DT_SONAME, soname),
        *((DT_NEEDED, name) for name in needed),
        (DT_RPATH, rpath),
        (DT_RUNPATH, runpath),
    ]:
        if text:
            entries.append((tag, len(strings)))
            strings += text.encode() + b"\0"
    strings += bytes(-len(strings) % 8)
    hash_table = struct.pack("<4I", 1, 1, 0, 0)
    symbols = bytes(24)
    at_hash = HEADERS
    at_symbols = at_hash + len(hash_table)
    at_strings = at_symbols + len(symbols)
    at_dynamic = at_strings + len(strings)
    entries += [(DT_HASH, at_hash), (DT_SYMTAB, at_symbols), (DT_STRTAB, at_strings), (DT_STRSZ, len(strings))]
    dynamic = b"".join(struct.pack("<qQ", *entry) for entry in [*entries, (DT_SYMENT, 24), (DT_NULL, 0)])
    size = at_dynamic + len(dynamic)
    ident = b"\x7fELF\2\1\1".ljust(16, b"\0")
    machine = MACHINES[platform.machine()]
    header = struct.pack("<16sHHIQQQIHHHHHH", ident, ET_DYN, machine, EV_CURRENT, 0, 64, 0, 0, 64, 56, 3, 64, 0, 0)
    segments = [
        (PT_LOAD, 6, 0, 0, 0, size, size, PAGE),
        (PT_DYNAMIC, 6, at_dynamic, at_dynamic, at_dynamic, len(dynamic), len(dynamic), 8),
        (PT_GNU_STACK, 6, 0, 0, 0, 0, 0, 16),
    ]
    return (
        header
        + b"".join(struct.pack("<IIQQQQQQ", *segment) for segment in segments)
        + hash_table
        + symbols
        + strings
        + dynamic
    )
