"""Reads where a library looks for its device code, if that is in separate archives (`kpack`).

Such a library has a section `.rocm_kpack_ref`: a map in MessagePack with its name in archives and their paths, relative
to the directory in which it is loaded. `@GFXARCH@` in a path stands for the GPU target (ROCm's rocm-kpack,
`docs/runtime_api.md`; MessagePack specification, "Formats"). `rocm-sdk test` calls this.
"""

from __future__ import annotations

import os
import re
import struct
from dataclasses import dataclass
from pathlib import Path

from .elf import read_section

SECTION = ".rocm_kpack_ref"
SUFFIX = ".kpack"
PLACEHOLDER = "@GFXARCH@"
# First byte of a value that has its length behind it: the length's format.
_LENGTHS = {0xD9: ">B", 0xDA: ">H", 0xDC: ">H", 0xDE: ">H"}


@dataclass(frozen=True)
class ArchivePlace:
    """A directory in which archives are looked for, and what their names look like."""

    directory: Path
    names: re.Pattern[str]


def archive_places(path: Path) -> list[ArchivePlace]:
    """Return where the ELF file at `path` looks for archives; none if its device code was not split off.

    Raises ValueError if its reference is damaged, and OSError if it cannot be read.
    """
    section = read_section(path, SECTION)
    if section is None:
        return []
    try:
        document, _ = _decode(section, 0)
        searched = [str(one) for one in document["kpack_search_paths"]]  # type: ignore[index]
    except (IndexError, KeyError, TypeError, ValueError, struct.error) as error:
        raise ValueError(f"{path}: damaged {SECTION}, expected a map with kpack_search_paths ({error!r})") from error
    # HIP asks the kernel where a library was loaded from, which follows symbolic links.
    found = [Path(os.path.normpath(path.resolve().parent / one)) for one in searched]
    return [ArchivePlace(one.parent, re.compile(re.escape(one.name).replace(PLACEHOLDER, ".+"))) for one in found]


def _decode(data: bytes, at: int) -> tuple[object, int]:
    """Return the value at byte `at`, and where the next one begins; knows strings, arrays and maps."""
    first, after = data[at], at + 1
    if first in _LENGTHS:
        (length,) = struct.unpack_from(_LENGTHS[first], data, after)
        after += struct.calcsize(_LENGTHS[first])
    else:
        length = first & (0x1F if first >= 0xA0 else 0x0F)
    if 0xA0 <= first <= 0xBF or first in (0xD9, 0xDA):
        return data[after : after + length].decode(), after + length
    if not (0x80 <= first <= 0x9F or first in _LENGTHS):
        raise ValueError(f"byte {first:#x} is neither a string, an array nor a map")
    is_map = first <= 0x8F or first == 0xDE
    values = []
    for _ in range(length * 2 if is_map else length):
        value, after = _decode(data, after)
        values.append(value)
    if is_map:
        return {values[number]: values[number + 1] for number in range(0, len(values), 2)}, after
    return values, after
