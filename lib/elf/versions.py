"""The symbol versions that a file imports, and those that it defines (LSB Core, "Symbol Versioning").

Names are offsets into the dynamic string table. Nothing is trusted: a table that does not end is an ElfError.
"""

from collections.abc import Mapping
from struct import Struct
from typing import Final

from lib.elf import constants as c
from lib.elf.model import ElfFile
from lib.elf.source import MAX_COUNT, Source

VERNEED: Final = Struct("<HHIII")
VERNAUX: Final = Struct("<IHHII")
VERDEF: Final = Struct("<HHHHIII")
VERDAUX: Final = Struct("<II")


def verneed_entries(source: Source, elf: ElfFile) -> list[tuple[int, int, list[int]]]:
    """For each Elf64_Verneed: its file offset, its vn_file, and the vna_name of each of its versions.

    Names are offsets into the dynamic string table. (LSB Core, "Symbol Version Requirements".)
    """
    address, count = elf.dynamic_value(c.DT_VERNEED), elf.dynamic_value(c.DT_VERNEEDNUM) or 0
    if address is None or not count:
        return []
    at = elf.offset_of(address)
    if at is None:
        raise source.error(elf.dynamic[0].position, f"DT_VERNEED {address:#x} is in no PT_LOAD segment")
    found: list[tuple[int, int, list[int]]] = []
    total = 0
    for _ in range(count):
        _, versions, file, aux, following = source.unpack(VERNEED, at, "a symbol version requirement")
        names = []
        aux += at
        total += versions + 1
        if total > MAX_COUNT:
            raise source.error(at, f"more than {MAX_COUNT} symbol version requirements")
        for _ in range(versions):
            *_, name, skip = source.unpack(VERNAUX, aux, "a symbol version requirement")
            names.append(name)
            if not skip:
                break
            aux += skip
        found.append((at, file, names))
        if not following:
            break
        at += following
    return found


def verdef_entries(source: Source, elf: ElfFile) -> list[tuple[int, list[int]]]:
    """For each Elf64_Verdef: its file offset, and the vda_name of the version and of those that it builds on."""
    address, count = elf.dynamic_value(c.DT_VERDEF), elf.dynamic_value(c.DT_VERDEFNUM) or 0
    if address is None or not count:
        return []
    at = elf.offset_of(address)
    if at is None:
        raise source.error(elf.dynamic[0].position, f"DT_VERDEF {address:#x} is in no PT_LOAD segment")
    found: list[tuple[int, list[int]]] = []
    total = 0
    for _ in range(count):
        *_, versions, _, aux, following = source.unpack(VERDEF, at, "a symbol version definition")
        names = []
        aux += at
        total += versions + 1
        if total > MAX_COUNT:
            raise source.error(at, f"more than {MAX_COUNT} symbol version definitions")
        for _ in range(versions):
            name, skip = source.unpack(VERDAUX, aux, "a symbol version definition")
            names.append(name)
            aux += skip
        found.append((at, names))
        if not following:
            break
        at += following
    return found


def name_hash(name: bytes) -> int:
    """Return the hash of a name (gABI, "Hash Table")."""
    value = 0
    for byte in name:
        value = (value << 4) + byte
        value = (value ^ value >> 24 & 0xF0) & 0xFFFFFFF
    return value


def version_definitions(names: Mapping[int, tuple[bytes, int]]) -> bytes:
    """Return an Elf64_Verdef and its Elf64_Verdaux for each version: number -> name, and its offset in .dynstr.

    The first is 1, the file itself. (LSB Core, "Symbol Version Definitions".)
    """
    size, last = VERDEF.size + VERDAUX.size, max(names)
    return b"".join(
        VERDEF.pack(
            1, c.VER_FLG_BASE * (number == 1), number, 1, name_hash(name), VERDEF.size, size * (number != last)
        ) + VERDAUX.pack(at, 0)
        for number, (name, at) in sorted(names.items())
    )  # fmt: skip
