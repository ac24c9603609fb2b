"""An edit of what the dynamic loader reads: the search path, and the names of needed libraries.

    edit = DynamicEdit(SearchPath(("$ORIGIN/../sdk/lib",), extend=True), {"libhip-1a2b3c4d.so.6.1": "libhip.so.6"})
    patch = plan_patch(elf, file, edit)                                                   # lib.elf.editor

A library has its name in DT_NEEDED and, if versions of its symbols are needed, in the version requirements (vn_file):
the loader aborts if the two differ, so both follow. Like a search path, an edit says what shall hold afterwards.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class DynamicEdit:
    """Sets a search path, if there is one, and renames needed libraries: `needed` has old name -> new name.

    Raises ValueError for malformed names, and if a new name is also an old name.
    """

    search_path: SearchPath | None = None
    needed: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for old, new in self.needed.items():
            if not new or "\0" in new:
                raise ValueError(f"{new!r} cannot be the name of a library; expected one without NUL")
            if new in self.needed:
                raise ValueError(f"{old} is renamed to {new}, and {new} to {self.needed[new]}; rename each only once")

    def slots(self, elf: ElfFile) -> list[Slot]:
        """Return the new dynamic section, without DT_NULL."""
        plain = [Slot(entry.tag, entry.value) for entry in elf.dynamic]
        slots = plain if self.search_path is None else self.search_path.slots(elf)
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
