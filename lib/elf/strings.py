"""The dynamic string table: where a new string can live.

Linkers merge strings that end alike, so the bytes of an old search path may be a symbol's name too. A string is
written over an old one only after it is proven that nothing else points into the old one: no symbol, no symbol version,
no other dynamic entry. Where that cannot be proven, the table grows, which keeps every old offset valid.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from lib.elf import constants as c
from lib.elf.dynamic_edit import Slot, encode
from lib.elf.dynamic_symbols import dynamic_symbol_names
from lib.elf.model import ElfFile, SectionHeader
from lib.elf.reader import string_table
from lib.elf.source import Source
from lib.elf.versions import verdef_entries, verneed_entries

_OWN_SECTIONS: Final = (c.SHT_DYNSYM, c.SHT_DYNAMIC, c.SHT_GNU_VERDEF, c.SHT_GNU_VERNEED)


@dataclass(frozen=True, slots=True)
class Placement:
    """Where new strings go: their offsets in the table, what to write over old bytes of it, what to put behind it."""

    offsets: dict[str, int]
    overwrites: tuple[tuple[int, bytes], ...] = ()
    appended: bytes = b""


class StringTable:
    """The dynamic string table of one file, held in memory (5 MB in the largest library known).

    `size` is DT_STRSZ. `data` is longer where the section header claims more: static linkers go by that.
    """

    def __init__(self, source: Source, elf: ElfFile) -> None:
        self._source = source
        self._elf = elf
        self.offset, self.size = string_table(elf)
        self.address = elf.dynamic_value(c.DT_STRTAB) or 0
        self.section = next((index for index, header in enumerate(elf.section_headers) if self._is_table(header)), None)
        claimed = 0 if self.section is None else elf.section_headers[self.section].size
        self.data = source.read(self.offset, max(self.size, claimed), "the dynamic string table")

    def _is_table(self, header: SectionHeader) -> bool:
        return (
            header.addr == self.address
            and header.offset == self.offset
            and header.type == c.SHT_STRTAB
            and header.size > 0
        )

    def find(self, text: str) -> int | None:
        """Find the offset of a string that is there already, be it as the end of a longer one."""
        at = self.data.find(encode(text), 0, self.size)
        return None if at < 0 else at

    def text(self, at: int) -> str:
        """Return the string at an offset."""
        return self.data[at : self.data.find(b"\0", at)].decode("utf-8", "surrogateescape")

    def place_in_place(
        self, texts: Iterable[str], slots: list[Slot], released: Collection[int] = ()
    ) -> Placement | None:
        """Find a placement for all `texts` that leaves the table where it is.

        `slots` are the dynamic entries to be; version requirements will use the library names at `released` no more.
        """
        offsets: dict[str, int] = {}
        missing = []
        for text in texts:
            at = self.find(text)
            if at is None:
                missing.append(text)
            else:
                offsets[text] = at
        if not missing:
            return Placement(offsets)
        kept = {slot.value for slot in slots if slot.text is None and slot.tag in c.STRING_TAGS}
        smallest = min(len(encode(text)) for text in missing)
        free = self._free_strings(kept | set(offsets.values()), smallest, released)
        overwrites = []
        for text in sorted(missing, key=len, reverse=True):
            new = encode(text)
            fitting = [(size, at) for at, size in free.items() if size >= len(new)]
            if not fitting:
                return None
            size, at = min(fitting)
            del free[at]
            offsets[text] = at
            overwrites.append((at, new.ljust(size, b"\0")))
        return Placement(offsets, tuple(overwrites))

    def place_at_end(self, texts: Iterable[str]) -> Placement:
        """Make a placement behind the table, for a table that moves whole."""
        offsets: dict[str, int] = {}
        appended = b"" if self.data.endswith(b"\0") else b"\0"
        for text in texts:
            at = self.find(text)
            if at is None:
                at = len(self.data) + len(appended)
                appended += encode(text)
            offsets[text] = at
        return Placement(offsets, (), appended)

    def _free_strings(self, kept: set[int], smallest: int, released: Collection[int]) -> dict[int, int]:
        """Find the strings that dynamic entries point to now and nothing will point into: offset, size with the NUL.

        `kept` are the offsets that dynamic entries will go on to use; strings below `smallest` bytes are left out.
        """
        now = {entry.value for entry in self._elf.dynamic if entry.tag in c.STRING_TAGS}
        ends = {at: self.data.find(b"\0", at) for at in sorted(now - kept)}
        ends = {at: end for at, end in ends.items() if end + 1 - at >= smallest}
        names = self._other_references(released) if ends else None
        if names is None:
            return {}
        free: dict[int, int] = {}
        for at, end in ends.items():
            start = self.data.rfind(b"\0", 0, at) + 1
            apart = all(other + size <= start or other > end for other, size in free.items())
            if apart and not any(start <= name <= end for used in (names, kept) for name in used):
                free[at] = end + 1 - at
        return free

    def _other_references(self, released: Collection[int]) -> Iterable[int] | None:
        """List the offsets that anything but the dynamic entries will use; None where they cannot all be known."""
        elf = self._elf
        if any(elf.dynamic_value(tag) is not None for tag in (c.DT_GNU_LIBLIST, c.DT_GNU_CONFLICT)):
            return None
        if self.section is not None and (
            elf.shstrndx == self.section
            or any(header.link == self.section and header.type not in _OWN_SECTIONS for header in elf.section_headers)
        ):
            return None
        symbols = dynamic_symbol_names(self._source, elf)
        if symbols is None:
            return None
        needed = verneed_entries(self._source, elf)
        versions = [name for _, _, names in needed for name in names]
        versions += [file for _, file, _ in needed if file not in released]
        defined = [name for _, names in verdef_entries(self._source, elf) for name in names]
        return [*set(symbols), *versions, *defined]
