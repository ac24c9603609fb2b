"""Reads the table of contents of a `.kpack`, an archive of device code that was split off libraries.

ROCm's rocm-kpack defines the layout: a header (magic, version, offset of the table), blobs, and the table in
MessagePack. The table has, for each `library#number of the bundle`, the targets of which there is code. A library
without its device code says in its section `.rocm_kpack_ref`, of DLLs `.kpackrf`, where its archives are, relative to
itself; `@GFXARCH@` stands for the target.

MessagePack (msgpack.org, "spec.md") is decoded here: the library there is comes compiled for each Python.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from struct import Struct
from typing import Any, BinaryIO, Final

from lib.elf.model import ElfFile
from lib.elf.source import Source
from lib.gpus.target_id import TargetId, parse_target_id
from lib.pe.model import PeImage

#: Deeper documents are damage.
MAX_DEPTH: Final = 32
#: Fixed sizes: how many bytes behind the first, and how to read them.
_SCALARS: Final = {
    0xCA: Struct(">f"),
    0xCB: Struct(">d"),
    0xCC: Struct(">B"),
    0xCD: Struct(">H"),
    0xCE: Struct(">I"),
    0xCF: Struct(">Q"),
    0xD0: Struct(">b"),
    0xD1: Struct(">h"),
    0xD2: Struct(">i"),
    0xD3: Struct(">q"),
}
_CONSTANTS: Final = {0xC0: None, 0xC2: False, 0xC3: True}
_LENGTHS: Final = {1: Struct(">B"), 2: Struct(">H"), 4: Struct(">I")}
#: Sized ones: bytes of the length.
_BINARY: Final = {0xC4: 1, 0xC5: 2, 0xC6: 4}
_STRINGS: Final = {0xD9: 1, 0xDA: 2, 0xDB: 4}
_ARRAYS: Final = {0xDC: 2, 0xDD: 4}
_MAPS: Final = {0xDE: 2, 0xDF: 4}


class MsgpackError(ValueError):
    """Bytes that are no whole MessagePack document."""


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        if self.at + size > len(self.data):
            raise MsgpackError(f"the document ends inside a value at byte {self.at}")
        self.at += size
        return self.data[self.at - size : self.at]

    def value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise MsgpackError(f"values are nested deeper than {MAX_DEPTH}")
        first = self.take(1)[0]
        if first < 0x80 or first >= 0xE0:
            return first if first < 0x80 else first - 0x100
        if first < 0x90:
            return self.pairs(first & 0xF, depth)
        if first < 0xA0:
            return self.items(first & 0xF, depth)
        if first < 0xC0:
            return self.text(first & 0x1F)
        return self.long(first, depth)

    def long(self, first: int, depth: int) -> Any:
        if first in _CONSTANTS:
            return _CONSTANTS[first]
        if first in _SCALARS:
            return _SCALARS[first].unpack(self.take(_SCALARS[first].size))[0]
        if first in _STRINGS:
            return self.text(self.length(_STRINGS[first]))
        if first in _BINARY:
            return self.take(self.length(_BINARY[first]))
        if first in _ARRAYS:
            return self.items(self.length(_ARRAYS[first]), depth)
        if first in _MAPS:
            return self.pairs(self.length(_MAPS[first]), depth)
        raise MsgpackError(f"byte {self.at - 1} is {first:#x}, which begins no value that is expected")

    def length(self, size: int) -> int:
        return int(_LENGTHS[size].unpack(self.take(size))[0])

    def text(self, size: int) -> str:
        return self.take(size).decode("utf-8", "surrogateescape")

    def items(self, count: int, depth: int) -> list[Any]:
        self.require(count)
        return [self.value(depth + 1) for _ in range(count)]

    def pairs(self, count: int, depth: int) -> dict[Any, Any]:
        self.require(2 * count)
        found = {}
        for _ in range(count):
            key = self.value(depth + 1)
            if isinstance(key, (list, dict)):
                raise MsgpackError(f"a key before byte {self.at} is a list or a map")
            found[key] = self.value(depth + 1)
        return found

    def require(self, count: int) -> None:
        """Each value takes a byte or more: more than there are bytes is damage."""
        if count > len(self.data) - self.at:
            raise MsgpackError(f"{count} values are announced after byte {self.at}, but fewer bytes follow")


def decode(data: bytes) -> Any:
    """Return the document; raises MsgpackError when the bytes are not one, or more than one."""
    decoder = _Reader(data)
    value = decoder.value(0)
    if decoder.at != len(data):
        raise MsgpackError(f"{len(data) - decoder.at} bytes behind the document")
    return value


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
    """Place of a library's device code: its name in archives, and their paths relative to its directory."""

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
        named = [one for one in library.sections if one.name == PE_REFERENCE_SECTION and one.pointer_to_raw_data]
        places = [(one.begin, one.size_in_file) for one in named]
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
