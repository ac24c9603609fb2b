"""Finishes a launcher: writes the target into the section that the compiled program reserves for it."""

from tools.common.errors import ToolError
from tools.elf.constants import SHT_PROGBITS
from tools.elf.errors import ElfError
from tools.elf.reader import read_elf

#: The section of tools/launcher/launcher.c, zero-filled, that holds the NUL-terminated target.
SECTION = ".launcher.target"


def finished_launcher(template: str, path: str, target: str) -> bytes:
    """Return the bytes of the launcher that executes `target`, a path relative to its own directory.

    Raises ToolError when the target does not fit the reserved section.
    """
    with open(template, "rb") as file:
        try:
            headers = read_elf(file, template).section_headers
        except ElfError as error:
            raise ToolError(f"{error}; expected the compiled launcher, an ELF program") from None
        section = next((header for header in headers if header.name == SECTION), None)
        if section is None or section.type != SHT_PROGBITS:
            raise ToolError(f"{template}: no bytes for section {SECTION}; expected the program of //tools/launcher")
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
