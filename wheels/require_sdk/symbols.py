"""Takes the dynamic symbols out of programs and libraries while `verify` reads a wheel."""

import posixpath
from collections.abc import Mapping
from typing import BinaryIO, Final

from lib.common.program import ToolError
from lib.elf import constants as c
from lib.elf.dynamic_symbols import DynamicSymbols, read_dynamic_symbols
from lib.elf.reader import is_elf, read_elf
from lib.elf.source import ElfError
from wheels.verify.model import Collector, FileFacts

SYMBOLS: Final = "symbols"
#: Bytes of an ELF header: what is shorter is no library.
_SHORTEST: Final = 64


def _wants(path: str, size: int, head: bytes) -> bool:
    return is_elf(head) and size >= _SHORTEST and not posixpath.basename(path).endswith((".o", ".debug"))


def _inspect(file: BinaryIO, path: str) -> object:
    """Return the symbols, why they cannot be read, or None for what the loader has nothing to do with."""
    try:
        elf = read_elf(file, path)
        if not elf.has_dynamic or elf.machine == c.EM_AMDGPU or elf.debug_only:
            return None
        return read_dynamic_symbols(file, elf)
    except ElfError as error:
        return str(error)


COLLECTOR: Final = Collector(SYMBOLS, _wants, inspect=_inspect)


def symbols_of(files: Mapping[str, FileFacts], wheel: str) -> dict[str, DynamicSymbols]:
    """Return the symbols by path. Raises ToolError for a file whose tables are damaged; `wheel` has it."""
    found: dict[str, DynamicSymbols] = {}
    for path, facts in files.items():
        symbols = facts.collected.get(SYMBOLS)
        if isinstance(symbols, str):
            raise ToolError(f"{wheel}: {symbols}. Build the wheel again")
        if isinstance(symbols, DynamicSymbols):
            found[path] = symbols
    return found
