"""Reads the table of contents of a `.kpack`, an archive of device code that was split off libraries.

ROCm's rocm-kpack defines the layout: a header (magic, version, offset of the table), blobs, and the table in
MessagePack. The table has, for each `library#number of the bundle`, the targets of which there is code. A library
without its device code says in its section `.rocm_kpack_ref`, of DLLs `.kpackrf`, where its archives are, relative to
itself; `@GFXARCH@` stands for the target.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from struct import Struct
from typing import Any, BinaryIO, Final

from lib.device.msgpack import MsgpackError, decode
from lib.elf.model import ElfFile
from lib.elf.source import Source
from lib.gpus.target_id import TargetId, parse_target_id
from lib.pe.model import PeImage

MAGIC: Final = b"KPAK"
VERSION: Final = 1
SUFFIX: Final = ".kpack"
REFERENCE_SECTION: Final = ".rocm_kpack_ref"
PE_REFERENCE_SECTION: Final = ".kpackrf"
#: Stands for the target in the path of an archive.
PLACEHOLDER: Final = "@GFXARCH@"
_HEADER: Final = Struct("<4sIQ")


@dataclass(frozen=True)
class KpackReference:
    """Where a library has its device code: its name in archives, and their paths relative to its directory."""

    name: str
    paths: tuple[str, ...]


def read_kpack(file: BinaryIO, path: str) -> Mapping[str, tuple[tuple[TargetId, int], ...]]:
    """Return targets and sizes in bytes by `library#number`. Raises ElfError when the archive is damaged."""
    source = Source(file, path)
    magic, version, offset = source.unpack(_HEADER, 0, "the header of a kpack archive")
    if magic != MAGIC or version != VERSION:
        raise source.error(0, f"begins with {magic!r}, version {version}; expected {MAGIC!r}, version {VERSION}")
    if not _HEADER.size <= offset < source.size:
        raise source.error(8, f"the table of contents is said to lie at {offset:#x}, the file has {source.size} bytes")
    try:
        document = decode(source.read(offset, source.size - offset, "the table of contents"))
        return {str(name): _targets(entries) for name, entries in sorted(document["toc"].items())}
    except (MsgpackError, KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise source.error(offset, f"no table of contents: {error!r}") from None


def _targets(entries: Any) -> tuple[tuple[TargetId, int], ...]:
    found = ((parse_target_id(target), int(facts.get("original_size", 0))) for target, facts in entries.items())
    return tuple(sorted(found))


def read_reference(file: BinaryIO, library: ElfFile | PeImage) -> KpackReference | None:
    """Return where a library has its device code, None if it does not say. Raises ElfError when that is damaged."""
    if isinstance(library, PeImage):
        places = [
            (one.begin, min(one.size_in_memory, one.size_of_raw_data))
            for one in library.sections
            if one.name == PE_REFERENCE_SECTION and one.pointer_to_raw_data
        ]
    else:
        places = [(one.offset, one.size) for one in library.section_headers if one.name == REFERENCE_SECTION]
    return _read_reference(Source(file, library.path), *places[0]) if places else None


def _read_reference(source: Source, offset: int, size: int) -> KpackReference:
    data = source.read(offset, size, REFERENCE_SECTION)
    try:
        document = decode(data.rstrip(b"\0"))
        return KpackReference(str(document["kernel_name"]), tuple(str(one) for one in document["kpack_search_paths"]))
    except (MsgpackError, KeyError, TypeError) as error:
        raise source.error(offset, f"{REFERENCE_SECTION}: {error!r}") from None
