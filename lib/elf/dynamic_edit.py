"""An edit of what the dynamic loader reads: the search path, and the names of needed libraries.

    edit = DynamicEdit(SearchPath(("$ORIGIN/../sdk/lib",), extend=True), {"libhip-1a2b3c4d.so.6.1": "libhip.so.6"})
    patch = plan_patch(elf, file, edit)                                                   # lib.elf.editor

A library has its name in DT_NEEDED and, if versions of its symbols are needed, in the version requirements (vn_file):
the loader aborts if the two differ, so both follow. Like a search path, an edit says what shall hold afterwards.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lib.elf import constants as c
from lib.elf.model import ElfFile
from lib.elf.search_path import SearchPath, Slot


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
