"""Which files are not edited, and why: a property of the file, known before any wish."""

from typing import Final

from tools.lib.elf import constants as c
from tools.lib.elf.model import ElfFile

#: What the SONAME of glibc's dynamic loader begins with (ld-linux-x86-64.so.2, ld-linux-aarch64.so.1).
LOADER_NAMES: Final = ("ld-linux", "ld.so.", "ld64.so.")


def refusal(elf: ElfFile) -> str | None:
    """Why a file is of a kind that is not edited; None for one that is."""
    if elf.elf_class != 64 or not elf.little_endian:
        order = "little" if elf.little_endian else "big"
        return f"only 64-bit little-endian files are edited; this one is {elf.elf_class}-bit {order}-endian"
    if elf.type not in (c.ET_EXEC, c.ET_DYN):
        return f"only programs and shared libraries are edited; e_type is {elf.type} (1: relocatable, 4: core dump)"
    if elf.machine not in (c.EM_X86_64, c.EM_AARCH64):
        return f"only x86_64 (62) and aarch64 (183) files are edited; e_machine is {elf.machine} (224: AMD GPU code)"
    if elf.debug_only:
        return "a separate file of debug information is not edited"
    if not elf.has_dynamic:
        return "there is no dynamic section: a static program has no search path, SONAME or needed libraries"
    if (elf.soname or "").startswith(LOADER_NAMES):
        return f"{elf.soname} is the dynamic loader: glibc's aborts when it has a search path of its own"
    return None
