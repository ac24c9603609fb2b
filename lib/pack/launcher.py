"""Finishes a launcher: writes the target into the section that the compiled program reserves for it."""

from dataclasses import dataclass
from struct import Struct
from typing import BinaryIO, Final

from lib.common.program import ToolError
from lib.elf.constants import EM_386, EM_X86_64, SHT_PROGBITS
from lib.elf.platforms import CPUS
from lib.elf.reader import read_elf
from lib.elf.source import ElfError
from lib.pe.constants import IMAGE_FILE_MACHINE_AMD64, IMAGE_FILE_MACHINE_I386
from lib.pe.model import MACHINES
from lib.pe.reader import is_pe, read_pe

#: The section of tools/actions/launcher/linux.c, zero-filled, that holds the NUL-terminated target; of windows.c, too.
SECTION: Final = ".launcher.target"
PE_SECTION: Final = ".target"
#: The CPUs that launchers are compiled for, and how platforms name them.
NAMES: Final = {cpu.elf_machine: cpu.name for cpu in CPUS} | MACHINES
#: CPU of a program -> another CPU that runs it as well.
RUNS_ON: Final = {EM_386: EM_X86_64, IMAGE_FILE_MACHINE_I386: IMAGE_FILE_MACHINE_AMD64}
SUBSYSTEM: Final = Struct("<H")


@dataclass(frozen=True)
class _Template:
    """The compiled launcher: for which CPU it is, and where its bytes are to be replaced; offsets are in bytes."""

    machine: int
    #: Of the section for the target.
    offset: int
    room: int
    #: Of the subsystem; None for ELF, which has none.
    subsystem_offset: int | None = None


def _read_template(file: BinaryIO, path: str) -> _Template:
    """Read the compiled launcher. Raises ToolError if this is none."""
    try:
        if is_pe(file.read(2)):
            image = read_pe(file, path)
            for section in image.sections:
                if section.name == PE_SECTION and section.pointer_to_raw_data:
                    room = min(section.size_of_raw_data, section.size_in_memory)
                    return _Template(image.machine, section.begin, room, image.subsystem_offset)
            raise ToolError(f"{path}: no bytes for section {PE_SECTION}; expected the compiled launcher")
        elf = read_elf(file, path)
    except ElfError as error:
        raise ToolError(f"{error}; expected the compiled launcher, an ELF or PE program") from None
    for header in elf.section_headers:
        if header.name == SECTION and header.type == SHT_PROGBITS:
            return _Template(elf.machine, header.offset, header.size)
    raise ToolError(f"{path}: no bytes for section {SECTION}; expected the compiled launcher")


def _check_machine(launcher: int, path: str, target: str, machine: int) -> None:
    """Raise ToolError unless the launcher and what it starts run on one CPU; both are an e_machine, or a Machine."""
    if RUNS_ON.get(machine, machine) != launcher:
        made, wanted = (NAMES.get(one, f"e_machine {one}") for one in (launcher, machine))
        other = f"Set --platforms to a platform of {wanted}, for which launchers are compiled then, or exclude"
        raise ToolError(
            f"{path}: its launcher is for {made}, but {target}, which it starts, is for {wanted}; expected one CPU. "
            f"{other if machine in NAMES else 'Exclude'} {path} from the package"
        )


def finished_launcher(
    template: str, path: str, target: str, machine: int | None = None, subsystem: int | None = None
) -> bytes:
    """Return the bytes of the launcher that executes `target`, a path relative to its own directory.

    `machine` is the CPU of the target (e_machine, or Machine of a PE image), None if that is not known; `subsystem` is
    the target's, if it is a PE image: the launcher gets the same, so one of a program without console opens none.
    Raises ToolError when the launcher is for another CPU, and when the target does not fit the reserved section.
    """
    with open(template, "rb") as file:
        found = _read_template(file, template)
        _check_machine(found.machine, path, target, machine or found.machine)
        file.seek(0)
        program = bytearray(file.read())
    text = target.encode() + b"\0"
    if len(text) > found.room:
        raise ToolError(
            f"{path}: the launcher's target {target!r} takes {len(text)} bytes; at most {found.room} fit. Shorten the "
            "path"
        )
    program[found.offset : found.offset + len(text)] = text
    if subsystem and found.subsystem_offset:
        SUBSYSTEM.pack_into(program, found.subsystem_offset, subsystem)
    return bytes(program)
