"""The search path that a file shall have, and what its dynamic section becomes by it.

    patch = plan_patch(elf, file, SearchPath(("$ORIGIN/../lib",), extend=True))          # lib.elf.editor

It says what shall hold afterwards, so applying it again changes nothing.
"""

from dataclasses import dataclass
from typing import Final

from lib.elf import constants as c
from lib.elf.model import DynamicEntry, ElfFile

SEARCH_PATH_TAGS: Final = (c.DT_RPATH, c.DT_RUNPATH)


@dataclass(frozen=True, slots=True)
class Slot:
    """An entry of the dynamic section to be. With `text`, its value is that string's offset, wherever it ends up."""

    tag: int
    value: int
    text: str | None = None


@dataclass(frozen=True, slots=True)
class SearchPath:
    """These entries as DT_RPATH (or, by `tag`, DT_RUNPATH); the other tag is removed. No entries: neither tag is kept.

    With `extend`, the entries come behind those that are there, none of them twice. Where both tags are there, the
    loader reads DT_RUNPATH only: its entries are the ones that are kept. Raises ValueError for malformed entries.
    """

    entries: tuple[str, ...]
    tag: int = c.DT_RPATH
    extend: bool = False

    def __post_init__(self) -> None:
        if self.tag not in SEARCH_PATH_TAGS:
            raise ValueError(f"a search path is DT_RPATH ({c.DT_RPATH}) or DT_RUNPATH ({c.DT_RUNPATH}), not {self.tag}")
        for entry in self.entries:
            if not entry or "\0" in entry or ":" in entry:
                raise ValueError(f"a search path entry must not be empty or contain a colon or NUL: {entry!r}")

    def slots(self, elf: ElfFile) -> list[Slot]:
        """Make the dynamic section to be, without DT_NULL."""
        slots = [Slot(entry.tag, entry.value) for entry in elf.dynamic]
        present = [slot for slot in slots if slot.tag in SEARCH_PATH_TAGS]
        effective = max(reversed(present), key=lambda slot: slot.tag == c.DT_RUNPATH, default=None)
        rest = [slot for slot in slots if slot.tag not in SEARCH_PATH_TAGS or slot is effective]
        if not self.entries and not self.extend:
            return [slot for slot in rest if slot is not effective]
        current = elf.rpath if elf.runpath is None else elf.runpath
        wanted = self._text(current)
        if effective is None:
            return rest if wanted is None else [*rest, Slot(self.tag, 0, wanted)]
        changed = Slot(self.tag, effective.value, None if wanted == current else wanted)
        return [changed if slot is effective else slot for slot in rest]

    def _text(self, current: str | None) -> str | None:
        """Make the new search path; `current` is what the loader uses now."""
        if not self.extend:
            return ":".join(self.entries)
        present = current.split(":") if current else []
        added = [entry for entry in dict.fromkeys(self.entries) if entry not in present]
        return ":".join([current, *added] if current else added) if added else current


def encode(text: str) -> bytes:
    """Give a string the form it has in a string table, with the closing NUL."""
    return text.encode("utf-8", "surrogateescape") + b"\0"


def unchanged(slots: list[Slot], dynamic: tuple[DynamicEntry, ...]) -> bool:
    """Whether the new dynamic section equals the present one."""
    return slots == [Slot(entry.tag, entry.value) for entry in dynamic]
