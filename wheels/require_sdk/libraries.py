"""Libraries of a wheel and of an SDK: what auditwheel made of their names, and their dynamic symbols.

auditwheel grafts `libhip.so.6.1.4` as `libhip-1a2b3c4d.so.6.1.4`: digits of its SHA-256 stand before the first dot.
"""

import re
from collections.abc import Collection, Mapping
from typing import BinaryIO, Final

from lib.common.program import ToolError
from lib.elf import constants as c
from lib.elf.dynamic_symbols import DynamicSymbols, read_dynamic_symbols
from lib.elf.library_name import parse_library_name
from lib.elf.source import ElfError
from wheels.verify.model import Collector, FileFacts
from wheels.verify.wheel_set.gather import wants_linked

_GRAFTED: Final = re.compile(r"([^.]+)-[0-9a-f]{8}(\..+)")


def ungrafted(name: str) -> str:
    """Return the name that a library had before auditwheel grafted it; its own if it was not."""
    match = _GRAFTED.fullmatch(name)
    return f"{match[1]}{match[2]}" if match else name


def stem(name: str) -> str:
    """Return what a library is called without its version; all of it for another file."""
    library = parse_library_name(ungrafted(name))
    return library.stem if library else name


def known_as(name: str, known: Collection[str]) -> str | None:
    """Return the name in `known` that a file name stands for: `libhip.so.6` for `libhip-1a2b3c4d.so.6.1.4`.

    Versions are cut off from the end, but never the first number: `libhip.so.6` is not `libhip.so`.
    """
    name = ungrafted(name)
    while name not in known:
        library = parse_library_name(name)
        if library is None or "." not in library.version:
            return None
        name = name.rpartition(".")[0]
    return name


SYMBOLS: Final = "symbols"


def _inspect(file: BinaryIO, facts: FileFacts) -> object:
    """Return the symbols, why they cannot be read, or None for what the loader has nothing to do with."""
    elf = facts.elf
    if elf is None:
        return f"{facts.path}: {facts.elf_damage}"
    if not elf.has_dynamic or elf.machine == c.EM_AMDGPU or elf.debug_only:
        return None
    try:
        return read_dynamic_symbols(file, elf)
    except ElfError as error:
        return str(error)


COLLECTOR: Final = Collector(SYMBOLS, wants_linked, inspect=_inspect)


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
