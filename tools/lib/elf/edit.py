"""What shall become of a file's dynamic section, collected wish by wish and then applied once.

    edit = ElfEdit()
    edit.extend_search_path(["$ORIGIN/../lib"])
    edit.set_soname("libx.so.2")
    patch = plan_patch(elf, file, edit)          # tools.lib.elf.editor

Wishes say what shall hold afterwards, so applying the same edit again changes nothing. Two wishes that contradict each
other are refused when the second is made.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tools.lib.elf import constants as c
from tools.lib.elf.errors import ElfError
from tools.lib.elf.model import DynamicEntry, ElfFile

SEARCH_PATH_TAGS: Final = (c.DT_RPATH, c.DT_RUNPATH)


@dataclass(frozen=True, slots=True)
class Slot:
    """An entry of the dynamic section to be. With `text`, its value is that string's offset, wherever it ends up."""

    tag: int
    value: int
    text: str | None = None


class ElfEdit:
    """The wishes for one file. Its methods raise ValueError for a wish that is malformed or contradicts another."""

    def __init__(self) -> None:
        self._path_tag: int | None = None
        self._path_set: tuple[str, ...] | None = None
        self._path_added: tuple[str, ...] = ()
        self._path_removed = False
        self._soname: str | None = None
        self._needed_added: list[str] = []
        self._needed_changed: dict[str, str | None] = {}

    def set_search_path(self, entries: Sequence[str], tag: int = c.DT_RPATH) -> None:
        """Have exactly these search path entries, as DT_RPATH (or, by `tag`, DT_RUNPATH). The other tag is removed."""
        if not entries:
            raise ValueError("an empty search path: use remove_search_path()")
        self._want_path(tag, entries, new=self._path_set is None and not self._path_added)
        self._path_set = tuple(entries)

    def extend_search_path(self, entries: Sequence[str], tag: int = c.DT_RPATH) -> None:
        """Have these entries behind those that are there, as DT_RPATH (or, by `tag`, DT_RUNPATH), none of them twice.

        Where both tags are there, the loader looks at DT_RUNPATH only: so its entries are the ones that are kept.
        """
        self._want_path(tag, entries, new=self._path_set is None)
        self._path_added += tuple(entry for entry in dict.fromkeys(entries) if entry not in self._path_added)

    def use_tag(self, tag: int) -> None:
        """Turn DT_RUNPATH into DT_RPATH (`tag` DT_RPATH) or back (`tag` DT_RUNPATH); entries stay, none are made."""
        self._want_path(tag, (), new=True)

    def remove_search_path(self) -> None:
        """Have neither DT_RPATH nor DT_RUNPATH."""
        if self._path_tag is not None:
            raise ValueError("the search path cannot be both removed and changed")
        self._path_removed = True

    def set_soname(self, name: str) -> None:
        """Have this DT_SONAME."""
        _check_string(name, "a SONAME")
        if self._soname not in (None, name):
            raise ValueError(f"two SONAMEs for one file: {self._soname} and {name}")
        self._soname = name

    def add_needed(self, name: str) -> None:
        """Have a DT_NEEDED of this name; a new one comes after all others."""
        _check_string(name, "a needed library")
        if name in self._needed_changed:
            raise ValueError(f"the needed library {name} cannot be both added and taken away")
        if name not in self._needed_added:
            self._needed_added.append(name)

    def replace_needed(self, old: str, new: str) -> None:
        """Have a DT_NEEDED `new` where there is a DT_NEEDED `old`, in symbol version requirements too."""
        _check_string(new, "a needed library")
        if old == new:
            raise ValueError(f"the needed library {old} cannot be replaced by itself")
        self._change_needed(old, new)

    def remove_needed(self, name: str) -> None:
        """Have no DT_NEEDED of this name."""
        self._change_needed(name, None)

    def _change_needed(self, old: str, new: str | None) -> None:
        if self._needed_changed.get(old, new) != new or old in self._needed_added:
            raise ValueError(f"contradictory wishes for the needed library {old}")
        if old in self._needed_changed.values() or new in self._needed_changed:
            raise ValueError(f"the needed libraries {old} and {new} cannot be replaced in a chain")
        self._needed_changed[old] = new

    def _want_path(self, tag: int, entries: Sequence[str], *, new: bool) -> None:
        if tag not in SEARCH_PATH_TAGS:
            raise ValueError(f"a search path is DT_RPATH ({c.DT_RPATH}) or DT_RUNPATH ({c.DT_RUNPATH}), not {tag}")
        for entry in entries:
            _check_string(entry, "a search path entry")
            if ":" in entry:
                raise ValueError(f"a search path entry cannot contain a colon: {entry!r}")
        if self._path_removed or self._path_tag not in (None, tag):
            raise ValueError("contradictory wishes for the search path: removed and changed, or both RPATH and RUNPATH")
        if not new:
            raise ValueError("contradictory wishes for the search path: it can be set only once, and not also extended")
        self._path_tag = tag

    def slots(self, elf: ElfFile) -> list[Slot]:
        """Make the dynamic section to be, without DT_NULL. Raises ElfError for a wish that this file cannot meet."""
        slots = [Slot(entry.tag, entry.value) for entry in elf.dynamic]
        if self._path_tag is not None or self._path_removed:
            slots = self._with_search_path(elf, slots)
        if self._soname not in (None, elf.soname):
            slots = _set_last(slots, c.DT_SONAME, Slot(c.DT_SONAME, 0, self._soname))
        if self._needed_changed or self._needed_added:
            slots = self._with_needed(elf, slots)
        return slots

    def renamed_libraries(self) -> dict[str, str]:
        """Old and new names of replaced libraries; symbol version requirements name them too."""
        return {old: new for old, new in self._needed_changed.items() if new is not None}

    def _with_search_path(self, elf: ElfFile, slots: list[Slot]) -> list[Slot]:
        present = [slot for slot in slots if slot.tag in SEARCH_PATH_TAGS]
        effective = max(reversed(present), key=lambda slot: slot.tag == c.DT_RUNPATH, default=None)
        rest = [slot for slot in slots if slot.tag not in SEARCH_PATH_TAGS or slot is effective]
        if self._path_tag is None:
            return [slot for slot in rest if slot is not effective]
        current = elf.rpath if elf.runpath is None else elf.runpath
        wanted = self._search_path(current)
        if effective is None:
            return rest if wanted is None else [*rest, Slot(self._path_tag, 0, wanted)]
        changed = Slot(self._path_tag, effective.value, None if wanted == current else wanted)
        return [changed if slot is effective else slot for slot in rest]

    def _search_path(self, current: str | None) -> str | None:
        """Make the search path to be, when `current` is the one that the loader uses now."""
        if self._path_set is not None:
            return ":".join(self._path_set)
        present = current.split(":") if current else []
        added = [entry for entry in self._path_added if entry not in present]
        return ":".join([current, *added] if current else added) if added else current

    def _with_needed(self, elf: ElfFile, slots: list[Slot]) -> list[Slot]:
        names = iter(elf.needed)
        result: list[Slot] = []
        have = set(elf.needed)
        for slot in slots:
            name = next(names) if slot.tag == c.DT_NEEDED else None
            if name not in self._needed_changed:
                result.append(slot)
                continue
            new = self._needed_changed[name]
            if new is None and name in elf.versions_needed:
                reason = f"{name} cannot be removed: symbols of certain versions are needed from it"
                raise ElfError(elf.path, elf.dynamic[0].position, reason)
            if new is not None and new not in have:
                have.add(new)
                result.append(Slot(c.DT_NEEDED, slot.value, new))
        for old, new in self.renamed_libraries().items():
            if new not in have:
                reason = f"{old} cannot be replaced by {new}: neither is needed"
                raise ElfError(elf.path, elf.dynamic[0].position, reason)
        result += [Slot(c.DT_NEEDED, 0, name) for name in self._needed_added if name not in have]
        return result


def _set_last(slots: list[Slot], tag: int, new: Slot) -> list[Slot]:
    """Put `new` in the place of the last entry with this tag, or behind all others."""
    index = max((at for at, slot in enumerate(slots) if slot.tag == tag), default=len(slots))
    return [*slots[:index], new, *slots[index + 1 :]]


def _check_string(text: str, what: str) -> None:
    if not text or "\0" in text:
        raise ValueError(f"{what} must not be empty or contain NUL: {text!r}")


def encode(text: str) -> bytes:
    """Give a string the form it has in a string table, with the closing NUL."""
    return text.encode("utf-8", "surrogateescape") + b"\0"


def unchanged(slots: list[Slot], dynamic: tuple[DynamicEntry, ...]) -> bool:
    """Whether the dynamic section to be is the one that is there."""
    return slots == [Slot(entry.tag, entry.value) for entry in dynamic]
