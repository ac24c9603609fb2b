"""What a PE image says, in one form, as this project, pefile and lief read it.

Each reader returns facts by name. It leaves out those that it does not have, or does not have exactly: its docstring
says which. A reader that refuses a file raises `ValueError`.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lief
import pefile

from lib.elf.source import ElfError
from lib.pe.model import Import, PeImage, Symbol
from lib.pe.reader import COFF_SYMBOL_BYTES, read_pe

Facts = dict[str, Any]
#: Limits of pefile's that real images exceed: bytes of a name, and symbols, for which ordinals have 16 bits. It has no
#: parameters for the first ones.
for _limit in ("MAX_DLL_LENGTH", "MAX_IMPORT_NAME_LENGTH", "MAX_IMPORT_SYMBOLS", "MAX_SYMBOL_NAME_LENGTH"):
    setattr(pefile, _limit, 1 << 20)
MOST_SYMBOLS = 1 << 16
#: The data directories that pefile is to read.
PEFILE_TABLES = ("EXPORT", "IMPORT", "DELAY_IMPORT")


def text(name: str | bytes | None) -> str | None:
    """Return a name as this project has it: bytes that are not UTF-8 as surrogate escapes."""
    return name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else name


def _import(library: str | None, symbols: list[str | int | None], *, delayed: bool) -> tuple[object, ...]:
    return (library, delayed, tuple(symbols))


def ours(path: Path) -> PeImage:
    """Read a file as this project does. Raises ValueError if it is damaged."""
    try:
        with path.open("rb") as file:
            return read_pe(file, str(path))
    except ElfError as error:
        raise ValueError(str(error)) from error


def facts_of(image: PeImage) -> Facts:
    """Return what this project has read."""

    def imported(one: Import) -> tuple[object, ...]:
        symbols = [symbol.ordinal if symbol.name is None else symbol.name for symbol in one.symbols]
        return _import(one.library, symbols, delayed=one.delayed)

    def exported(one: Symbol) -> tuple[object, ...]:
        return one.name, one.ordinal

    return {
        "machine": image.machine,
        "characteristics": image.characteristics,
        "magic": image.magic,
        "subsystem": image.subsystem,
        "image_base": image.image_base,
        "sections": [
            (
                one.name,
                one.virtual_size,
                one.virtual_address,
                one.size_of_raw_data,
                one.pointer_to_raw_data,
                one.characteristics,
            )
            for one in image.sections
        ],
        "exports": sorted(map(exported, image.exports), key=str),
        "imports": [imported(one) for one in image.imports],
        "is_managed": image.is_managed,
    }


def pefile_facts(path: Path) -> Facts:
    """Read a file with pefile: all facts."""
    try:
        image = pefile.PE(path, fast_load=True, max_symbol_exports=MOST_SYMBOLS, max_repeated_symbol=MOST_SYMBOLS)
    except pefile.PEFormatError as error:
        raise ValueError(str(error)) from error
    with image:
        numbers = [pefile.DIRECTORY_ENTRY[f"IMAGE_DIRECTORY_ENTRY_{name}"] for name in PEFILE_TABLES]
        image.parse_data_directories(numbers)
        header, optional = image.FILE_HEADER, image.OPTIONAL_HEADER
        exports = getattr(image, "DIRECTORY_ENTRY_EXPORT", None)
        imports = [(one, False) for one in getattr(image, "DIRECTORY_ENTRY_IMPORT", ())]
        imports += [(one, True) for one in getattr(image, "DIRECTORY_ENTRY_DELAY_IMPORT", ())]
        directories = {one.name: one.VirtualAddress for one in optional.DATA_DIRECTORY}
        return {
            "machine": header.Machine,
            "characteristics": header.Characteristics,
            "magic": optional.Magic,
            "subsystem": optional.Subsystem,
            "image_base": optional.ImageBase,
            "sections": [
                (
                    text(_pefile_section(image, one.Name.rstrip(b"\0"))),
                    one.Misc_VirtualSize,
                    one.VirtualAddress,
                    one.SizeOfRawData,
                    one.PointerToRawData,
                    one.Characteristics,
                )
                for one in image.sections
            ],
            "exports": sorted(((text(one.name), one.ordinal) for one in exports.symbols), key=str) if exports else [],
            "imports": [
                _import(
                    text(table.dll),
                    [one.ordinal if one.import_by_ordinal else text(one.name) for one in table.imports],
                    delayed=delayed,
                )
                for table, delayed in imports
            ],
            "is_managed": bool(directories.get("IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR")),
        }


def _pefile_section(image: Any, name: bytes) -> bytes:
    """Return the name of a section; pefile leaves it to its callers to look into COFF's string table."""
    if not re.fullmatch(rb"/\d+", name):
        return name
    header = image.FILE_HEADER
    at = header.PointerToSymbolTable + header.NumberOfSymbols * COFF_SYMBOL_BYTES + int(name[1:])
    found: bytes = image.__data__[at : at + 256].partition(b"\0")[0]
    return found


def lief_facts(path: Path) -> Facts:
    """Read a file with lief: all facts."""
    image = lief.PE.parse(str(path))
    if image is None:
        raise ValueError("lief cannot read it")
    header, optional = image.header, image.optional_header
    exports = image.get_export()
    return {
        "machine": int(header.machine),
        "characteristics": int(header.characteristics),
        "magic": int(optional.magic),
        "subsystem": int(optional.subsystem),
        "image_base": optional.imagebase,
        "sections": [
            (
                text(_lief_name(one)),
                one.virtual_size,
                one.virtual_address,
                one.sizeof_raw_data,
                one.pointerto_raw_data,
                int(one.characteristics),
            )
            for one in image.sections
        ],
        "exports": sorted(
            ((one.name or None, one.ordinal) for one in exports.entries if one.name or one.address or one.is_forwarded),
            key=str,
        )
        if exports
        else [],
        "imports": [
            _import(one.name, [e.ordinal if e.is_ordinal else e.name for e in one.entries], delayed=False)
            for one in image.imports
        ]
        + [
            _import(one.name, [e.ordinal if e.is_ordinal else e.name for e in one.entries], delayed=True)
            for one in image.delay_imports
        ],
        "is_managed": bool(image.data_directory(lief.PE.DataDirectory.TYPES.CLR_RUNTIME_HEADER).rva),
    }


def _lief_name(section: Any) -> str | bytes:
    name: str | bytes = section.coff_string.string if section.coff_string else section.name
    return name


READERS: dict[str, Callable[[Path], Facts]] = {"lief": lief_facts, "pefile": pefile_facts}
