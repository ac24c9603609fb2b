"""What a PE image says, in one form, as this project and lief read it: facts by name.

A reader that refuses a file raises `ValueError`. lib/pe compares with pefile, which has limits that real images exceed.
"""

from pathlib import Path
from typing import Any

import lief

from lib.elf.source import ElfError
from lib.pe.model import Import, PeImage, Symbol
from lib.pe.reader import read_pe

Facts = dict[str, Any]


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


def lief_facts(path: Path) -> Facts:
    """Read a file with lief."""
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
