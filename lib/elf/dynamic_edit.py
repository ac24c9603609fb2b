"""An edit of what the dynamic loader reads: the search path, and the names of needed libraries.

    edit = DynamicEdit(("$ORIGIN/../sdk/lib",), {"libhip-1a2b3c4d.so.6.1": "libhip.so.6"})
    patch = plan_patch(elf, file, edit)                                                   # lib.elf.editor

A library has its name in DT_NEEDED and, if versions of its symbols are needed, in the version requirements (vn_file):
the loader aborts if the two differ, so both follow. Like a search path, an edit says what shall hold afterwards.

Linkers merge strings that end alike, so the bytes of an old search path may be a symbol's name too. A string is written
over an old one in the dynamic string table only after it is proven that nothing else points into the old one: no
symbol, no symbol version, no other dynamic entry. Otherwise the table grows, which keeps every old offset valid.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from lib.elf import constants as c
from lib.elf.dynamic_symbols import dynamic_symbol_names
from lib.elf.model import DynamicEntry, ElfFile, SectionHeader
from lib.elf.reader import string_table
from lib.elf.source import Source
from lib.elf.versions import verdef_entries, verneed_entries

SEARCH_PATH_TAGS: Final = (c.DT_RPATH, c.DT_RUNPATH)


@dataclass(frozen=True, slots=True)
class Slot:
    """An entry of the dynamic section to be. With `text`, its value is that string's offset, wherever it ends up."""

    tag: int
    value: int
    text: str | None = None


def encode(text: str) -> bytes:
    """Give a string the form it has in a string table, with the closing NUL."""
    return text.encode("utf-8", "surrogateescape") + b"\0"


def unchanged(slots: list[Slot], dynamic: tuple[DynamicEntry, ...]) -> bool:
    """Whether the new dynamic section equals the present one."""
    return slots == [Slot(entry.tag, entry.value) for entry in dynamic]


@dataclass(frozen=True)
class DynamicEdit:
    """Sets a search path, and renames needed libraries.

    Raises ValueError for malformed entries and names, and if a new name is also an old name.
    """

    search_path: tuple[str, ...] | None = None
    """The entries of DT_RPATH; DT_RUNPATH is removed, and without entries DT_RPATH too. None: both stay."""
    needed: Mapping[str, str] = field(default_factory=dict)
    """Old name -> new name."""

    def __post_init__(self) -> None:
        for entry in self.search_path or ():
            if not entry or "\0" in entry or ":" in entry:
                raise ValueError(f"a search path entry must not be empty or contain a colon or NUL: {entry!r}")
        for old, new in self.needed.items():
            if not new or "\0" in new:
                raise ValueError(f"{new!r} cannot be the name of a library; expected one without NUL")
            if new in self.needed:
                raise ValueError(f"{old} is renamed to {new}, and {new} to {self.needed[new]}; rename each only once")

    def slots(self, elf: ElfFile) -> list[Slot]:
        """Return the new dynamic section, without DT_NULL."""
        slots = [Slot(entry.tag, entry.value) for entry in elf.dynamic]
        if self.search_path is not None:
            slots = _with_search_path(slots, elf, ":".join(self.search_path))
        names = iter(elf.needed)
        return [self._renamed(slot, next(names)) if slot.tag == c.DT_NEEDED else slot for slot in slots]

    def _renamed(self, slot: Slot, name: str) -> Slot:
        return Slot(slot.tag, slot.value, self.needed[name]) if name in self.needed else slot

    def needed_after(self, elf: ElfFile) -> tuple[str, ...]:
        """Return the needed libraries that the file shall have."""
        return tuple(self.needed.get(name, name) for name in elf.needed)

    def versions_after(self, elf: ElfFile) -> dict[str, list[str]]:
        """Return the versions that the file shall need, sorted, by library."""
        found: dict[str, list[str]] = {}
        for name, versions in elf.versions_needed.items():
            found.setdefault(self.needed.get(name, name), []).extend(versions)
        return {name: sorted(versions) for name, versions in found.items()}


def _with_search_path(slots: list[Slot], elf: ElfFile, text: str) -> list[Slot]:
    """Put DT_RPATH in the place of the entry that the loader reads: DT_RUNPATH, if the file has both."""
    present = [slot for slot in slots if slot.tag in SEARCH_PATH_TAGS]
    effective = max(reversed(present), key=lambda slot: slot.tag == c.DT_RUNPATH, default=None)
    if effective is None:
        return [*slots, Slot(c.DT_RPATH, 0, text)] if text else slots
    is_same = text == (elf.rpath if elf.runpath is None else elf.runpath)
    new = [Slot(c.DT_RPATH, effective.value, None if is_same else text)] if text else []
    changed = (new if slot is effective else [slot] for slot in slots if slot is effective or slot not in present)
    return [slot for some in changed for slot in some]


_OWN_SECTIONS: Final = (c.SHT_DYNSYM, c.SHT_DYNAMIC, c.SHT_GNU_VERDEF, c.SHT_GNU_VERNEED)


@dataclass(frozen=True, slots=True)
class Placement:
    """Places of new strings: their offsets in the table, the old bytes to overwrite, and the bytes to append."""

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
        files = [entry.file for entry in needed if entry.file not in released]
        entries = [*needed, *verdef_entries(self._source, elf)]
        return [*set(symbols), *files, *(version.name for entry in entries for version in entry.versions)]
