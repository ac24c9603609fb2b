"""Makes an interface library of a shared library: what a linker reads of it.

A file that is not an ELF file, such as a linker script, is copied.
"""

from dataclasses import dataclass
from pathlib import Path

from hip.tools.interface_library.interface import read_interface
from hip.tools.interface_library.interface_writer import interface_library
from lib.common.arguments import run_program
from lib.common.program import ToolError
from lib.elf.reader import is_elf
from lib.elf.source import ElfError


@dataclass(frozen=True)
class Arguments:
    """What the rule says; a `str` is the path of a file, unless its comment says otherwise."""

    label: str
    library: Path  #: The shared library.
    output: Path  #: The interface library to write.


def convert(args: Arguments) -> None:
    """Write the interface library. Raises ToolError if the library is damaged."""
    try:
        with args.library.open("rb") as file:
            head = file.read(16)
            content = (
                interface_library(read_interface(file, str(args.library)))
                if is_elf(head)
                else args.library.read_bytes()
            )
    except (ElfError, ValueError) as error:
        raise ToolError(f"{args.library}: expected a shared library ({error}). Build or fetch it again") from None
    args.output.write_bytes(content)


def main(argv: list[str]) -> int:
    """Make the interface library."""
    return run_program(Arguments, argv, convert)
