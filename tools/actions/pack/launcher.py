"""Finishes a launcher: writes the target into the section that the compiled program reserves for it."""

from tools.lib.common.program import ToolError
from tools.lib.elf.constants import EM_386, EM_AARCH64, EM_X86_64, SHT_PROGBITS
from tools.lib.elf.reader import read_elf
from tools.lib.elf.source import ElfError

#: The section of tools/actions/launcher/linux.c, zero-filled, that holds the NUL-terminated target.
SECTION = ".launcher.target"
#: The CPUs that launchers are compiled for, and how platforms name them.
NAMES = {EM_X86_64: "x86_64", EM_AARCH64: "aarch64"}
#: Programs of these CPUs run where those of the others do.
RUNS_ON = {EM_386: EM_X86_64}


def _check_machine(launcher: int, path: str, target: str, machine: int) -> None:
    """Raise ToolError unless the launcher and what it starts run on one CPU; both are an e_machine."""
    if RUNS_ON.get(machine, machine) != launcher:
        made, wanted = (NAMES.get(one, f"e_machine {one}") for one in (launcher, machine))
        other = f"Set --platforms to a platform of {wanted}, for which launchers are compiled then, or exclude"
        raise ToolError(
            f"{path}: its launcher is for {made}, but {target}, which it starts, is for {wanted}; expected one CPU. "
            f"{other if machine in NAMES else 'Exclude'} {path} from the package"
        )


def finished_launcher(template: str, path: str, target: str, machine: int | None = None) -> bytes:
    """Return the bytes of the launcher that executes `target`, a path relative to its own directory.

    `machine` is the CPU (e_machine) of the target, None if that is not known. Raises ToolError when the launcher is for
    another one, and when the target does not fit the reserved section.
    """
    with open(template, "rb") as file:
        try:
            elf = read_elf(file, template)
        except ElfError as error:
            raise ToolError(f"{error}; expected the compiled launcher, an ELF program") from None
        _check_machine(elf.machine, path, target, machine or elf.machine)
        section = next((header for header in elf.section_headers if header.name == SECTION), None)
        if section is None or section.type != SHT_PROGBITS:
            raise ToolError(f"{template}: no bytes for section {SECTION}; expected the compiled launcher")
        offset, room = section.offset, section.size
        file.seek(0)
        program = bytearray(file.read())
    text = target.encode() + b"\0"
    if len(text) > room:
        raise ToolError(
            f"{path}: the launcher's target {target!r} takes {len(text)} bytes; at most {room} fit. Shorten the path"
        )
    program[offset : offset + len(text)] = text
    return bytes(program)
