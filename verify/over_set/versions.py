"""Reads the symbol versions that a library defines.

The structures are those of the LSB Core ("Symbol Version Definitions", Elfxx_Verdef and Elfxx_Verdaux).
`tools.lib.elf.reader` reads the versions that a file needs; what it defines concerns only checks over several files.
"""

from struct import Struct
from typing import BinaryIO, Final

from tools.lib.elf import constants as c
from tools.lib.elf.model import ElfFile
from tools.lib.elf.reader import MAX_COUNT, string_table
from tools.lib.elf.source import Source

VERDEF: Final = Struct("<HHHHIII")
VERDAUX: Final = Struct("<II")


def read_defined_versions(file: BinaryIO, elf: ElfFile) -> frozenset[str]:
    """Return the names of all versions that a file defines, its own name among them; empty if it defines none.

    The loader compares wanted names with all of them. Raises ElfError when the table is damaged.
    """
    address, count = elf.dynamic_value(c.DT_VERDEF), elf.dynamic_value(c.DT_VERDEFNUM) or 0
    if address is None or not count:
        return frozenset()
    source = Source(file, elf.path)
    at = elf.offset_of(address)
    if at is None:
        raise source.error(elf.dynamic[0].position, f"DT_VERDEF {address:#x} is in no PT_LOAD segment")
    if count > MAX_COUNT:
        raise source.error(at, f"{count} symbol version definitions: more than a real file has")
    strings, size = string_table(elf)
    names = set()
    for _ in range(count):
        *_, aux, following = source.unpack(VERDEF, at, "a symbol version definition")
        name, _ = source.unpack(VERDAUX, at + aux, "a symbol version definition's name")
        if name >= size:
            raise source.error(at, f"a symbol version has its name beyond the string table of {size} bytes")
        names.add(source.read_string(strings + name, strings + size, "a version's name"))
        if not following:
            break
        at += following
    return frozenset(names)
