"""Makes an interface library of a shared library: what a linker reads of it.

    tool --label LABEL --output FILE LIBRARY

A file that is not an ELF file, such as a linker script, is copied.
"""

from pathlib import Path

from hip.tools.interface_library.interface import read_interface
from hip.tools.interface_library.interface_writer import interface_library
from lib.common.program import ToolError, argument_parser, report_errors
from lib.elf.reader import is_elf
from lib.elf.source import ElfError


def convert(library: Path, output: Path) -> None:
    """Write the interface library. Raises ToolError if the library is damaged."""
    try:
        with library.open("rb") as file:
            head = file.read(16)
            content = interface_library(read_interface(file, str(library))) if is_elf(head) else library.read_bytes()
    except (ElfError, ValueError) as error:
        raise ToolError(f"{library}: expected a shared library ({error}). Build or fetch it again") from None
    output.write_bytes(content)


def main(argv: list[str]) -> int:
    """Run the tool; return the exit status."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="target, for errors")
    parser.add_argument("--output", type=Path, required=True, help="the interface library")
    parser.add_argument("library", type=Path, metavar="LIBRARY", help="the shared library")
    args = parser.parse_args(argv)
    return report_errors(args.label, lambda: convert(args.library, args.output))


if __name__ == "__main__":
    import sys

    raise SystemExit(main(sys.argv[1:]))
