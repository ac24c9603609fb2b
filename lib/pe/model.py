"""The facts about a PE image (a DLL or an EXE of Windows), as `lib.pe.reader.read_pe` returns them.

Fields follow the names of the specification. Offsets are file offsets in bytes; an RVA is an address in memory, in
bytes from where the image is loaded.
"""

from dataclasses import dataclass
from typing import Final

from lib.elf.platforms import WINDOWS_CPUS
from lib.pe import constants as c


@dataclass(frozen=True, slots=True)
class Section:
    """A section header; `position` is the file offset of the header itself, `name` the resolved name."""

    position: int
    name: str
    virtual_size: int
    virtual_address: int
    size_of_raw_data: int
    pointer_to_raw_data: int
    characteristics: int

    @property
    def size_in_memory(self) -> int:
        """Size of the loaded image, in bytes."""
        return self.virtual_size or self.size_of_raw_data

    @property
    def size_in_file(self) -> int:
        """How many bytes of it the loader takes from the file."""
        return min(self.size_in_memory, self.size_of_raw_data) if self.pointer_to_raw_data else 0

    @property
    def begin(self) -> int:
        """The file offset of its first byte, for the loader."""
        return self.pointer_to_raw_data // c.SECTOR * c.SECTOR


@dataclass(frozen=True, slots=True)
class Symbol:
    """A function or variable that is imported from a DLL, or that one exports.

    `name` is None where only the ordinal tells it apart; `ordinal` is None where it is imported by name.
    """

    name: str | None
    ordinal: int | None


@dataclass(frozen=True, slots=True)
class Import:
    """Imports from one DLL: when the image is loaded, or when it first calls the DLL."""

    library: str
    symbols: tuple[Symbol, ...]
    delayed: bool = False


@dataclass(frozen=True, slots=True)
class PeImage:
    """Headers and tables of a PE image."""

    path: str
    size: int
    machine: int
    characteristics: int
    #: Magic of the optional header: PE32 or PE32+.
    magic: int
    subsystem: int
    #: Where the file says that (a WORD).
    subsystem_offset: int
    image_base: int
    sections: tuple[Section, ...]
    exports: tuple[Symbol, ...]
    #: In the order of the tables, those at start first; a DLL may be named more than once.
    imports: tuple[Import, ...]
    #: Whether the CLR runs it: managed code.
    is_managed: bool

    def offset_of(self, address: int) -> int | None:
        """Return the file offset of the byte at an RVA; None if the file has none for it."""
        for section in self.sections:
            at = address - section.virtual_address
            if 0 <= at < section.size_in_file:
                return section.begin + at
        return None

    @property
    def is_dll(self) -> bool:
        """Whether the image is a DLL, not a program."""
        return bool(self.characteristics & c.IMAGE_FILE_DLL)

    @property
    def libraries(self) -> tuple[str, ...]:
        """The names of the DLLs that must be there at start: each once, sorted, in lower case (names have no case)."""
        return tuple(sorted({one.library.lower() for one in self.imports if not one.delayed}))

    @property
    def delayed_libraries(self) -> tuple[str, ...]:
        """The names of the DLLs that must be there when the first of their functions is called, likewise."""
        return tuple(sorted({one.library.lower() for one in self.imports if one.delayed}))


#: What linkers write for the machines that packages are made for.
MACHINES: Final = {c.IMAGE_FILE_MACHINE_I386: "x86"} | {cpu.pe_machine: cpu.name for cpu in WINDOWS_CPUS}
