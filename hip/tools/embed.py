"""Writes the assembly of an object file with device code, under the names that other object files refer to.

clang compiles a source with relocatable device code (`-fgpu-rdc`) to an object file that refers to `__hip_fatbin_{id}`,
the bundle of all device code, and `__hip_gpubin_handle_{id}`, where the HIP runtime keeps what it loaded. The
identifier differs from source to source. A program has one bundle, so all the names are for one place.
"""

import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from lib.common.arguments import run_program
from lib.common.program import ToolError

#: What the names begin with.
FATBIN = "__hip_fatbin"
HANDLE = "__hip_gpubin_handle"
#: What tells the runtime where the bundle is: each object file has its own.
WRAPPER = "__hip_fatbin_wrapper"

_ASSEMBLY = """\
\t.section .hip_fatbin,"a",@progbits
\t.p2align 12
{fatbins}\
\t.incbin "{bundle}"
\t.section .bss.__hip_gpubin_handle,"aw",@nobits
\t.p2align 3
{handles}\
\t.zero 8
\t.section .note.GNU-stack,"",@progbits
"""


def undefined_symbols(path: Path) -> set[str]:
    """Return the names that an object file refers to and does not define. Raises ToolError if it is damaged."""
    try:
        # In memory, whatever a damaged file says of offsets is an error of its content, and none of the system.
        elf = ELFFile(io.BytesIO(path.read_bytes()))
        sections = [one for one in elf.iter_sections() if isinstance(one, SymbolTableSection)]
        symbols = [symbol for section in sections for symbol in section.iter_symbols()]
        return {symbol.name for symbol in symbols if symbol["st_shndx"] == "SHN_UNDEF"}
    except (ELFError, OverflowError, ValueError) as error:
        raise ToolError(f"{path}: expected an object file of clang ({error}); build it again") from None


def assembly(bundle: str, symbols: Iterable[str]) -> str:
    """Return the assembly. Raises ToolError if no object file asks for device code."""
    names = sorted(symbols)
    fatbins = [name for name in names if name.startswith(FATBIN) and not name.startswith(WRAPPER)]
    if not fatbins:
        raise ToolError(
            f"no object file refers to a name that begins with {FATBIN}; expected one for each source with device "
            "code. Compile them with relocatable device code (-fgpu-rdc)"
        )

    def labels(chosen: Iterable[str]) -> str:
        return "".join(f"\t.globl {name}\n\t.hidden {name}\n{name}:\n" for name in chosen)

    handles = [name for name in names if name.startswith(HANDLE)]
    path = bundle.replace("\\", "\\\\").replace('"', '\\"')
    return _ASSEMBLY.format(fatbins=labels(fatbins), handles=labels(handles), bundle=path)


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule. A `str` is the path of a file, unless its comment says otherwise."""

    label: str
    bundle: str  #: The bundle, as the assembler finds it.
    output: Path  #: The assembly to write.
    object: list[Path]  #: Object files of clang.


def write(args: Arguments) -> None:
    """Write the assembly. Raises ToolError as `assembly` and `undefined_symbols` do."""
    symbols = {name for path in args.object for name in undefined_symbols(path)}
    args.output.write_text(assembly(args.bundle, symbols), encoding="utf-8")


def main(argv: list[str]) -> int:
    """Write the assembly."""
    return run_program(Arguments, argv, write)
