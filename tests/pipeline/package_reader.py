"""Reads what packages hold, apart from the product: ELF files by the gABI, offload bundles by clang's documentation.

Python has no zstd before 3.14, so libzstd's decoder is the product's copy.
"""

import functools
import hashlib
import itertools
import posixpath
import struct
import zlib
from dataclasses import dataclass

from lib.device.zstd import ZstdDecoder

#: Constants of the gABI.
PT_LOAD, PT_DYNAMIC, PT_INTERP, SHT_NOBITS = 1, 2, 3, 8
DT_NEEDED, DT_STRTAB, DT_SONAME, DT_RPATH, DT_RUNPATH = 1, 5, 14, 15, 29
#: Sections whose bytes no edit may change.
KEPT_SECTIONS = (".data", ".rodata", ".comment", ".hip_fatbin", ".note.gnu.build-id", ".gnu.hash")


class FindingError(AssertionError):
    """The build and the documentation disagree."""

    def __init__(self, kind: str, text: str) -> None:
        """Take a kind of a few words, and what was expected of which file, and what came."""
        super().__init__(f"{kind}: {text}")
        self.kind = kind


@dataclass(frozen=True)
class ElfFacts:
    """What an ELF file says about itself, and bytes that no edit may change."""

    machine: int
    kind: int
    soname: str | None
    needed: tuple[str, ...]
    rpath: tuple[str, ...] | None
    runpath: tuple[str, ...] | None
    interpreter: bytes
    symbols: tuple[str, ...]
    bytes: tuple[tuple[str, bytes], ...]


@functools.lru_cache(maxsize=4096)
def read_elf(data: bytes) -> ElfFacts:
    """Read an ELF file as the loader does, by its segments (gABI, "Program Loading and Dynamic Linking")."""
    kind, machine = struct.unpack_from("<HH", data, 16)
    phoff, shoff = struct.unpack_from("<QQ", data, 32)
    phnum, _, shnum, shstrndx = struct.unpack_from("<4H", data, 56)
    programs = [struct.unpack_from("<IIQQQQQQ", data, phoff + 56 * at) for at in range(phnum)]

    def offset(address: int) -> int:
        for kind_, _, at, vaddr, _, size, *_ in programs:
            if kind_ == PT_LOAD and vaddr <= address < vaddr + size:
                return int(at + address - vaddr)
        raise FindingError("address", f"{address:#x} is in no segment's bytes")

    start, size = next((offset(one[3]), one[5]) for one in programs if one[0] == PT_DYNAMIC)
    tags = list(itertools.takewhile(lambda tag: tag[0], struct.iter_unpack("<qQ", data[start : start + size])))
    table = offset(dict(tags)[DT_STRTAB])
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + 64 * at) for at in range(shnum)]
    names = sections[shstrndx][4]
    content = {_text(data, names + one[0]): data[one[4] : one[4] + one[5]] for one in sections if one[1] != SHT_NOBITS}
    symbols = [_text(data, table + number) for number, *_ in struct.iter_unpack("<IIQQ", content.get(".dynsym", b""))]

    def texts(tag: int) -> tuple[str, ...]:
        return tuple(_text(data, table + value) for found, value in tags if found == tag)

    return ElfFacts(
        machine=machine,
        kind=kind,
        soname=next(iter(texts(DT_SONAME)), None),
        needed=texts(DT_NEEDED),
        rpath=_entries(texts(DT_RPATH)),
        runpath=_entries(texts(DT_RUNPATH)),
        interpreter=next((data[one[2] : one[2] + one[5]] for one in programs if one[0] == PT_INTERP), b""),
        symbols=tuple(filter(None, symbols)),
        # The first word of .data holds the address of .dynamic, which may move.
        bytes=tuple((name, content.get(name, b"")[8 * (name == ".data") :]) for name in KEPT_SECTIONS),
    )


def _text(data: bytes, offset: int) -> str:
    return data[offset : data.index(b"\0", offset)].decode()


def _entries(texts: tuple[str, ...]) -> tuple[str, ...] | None:
    return tuple(texts[0].split(":")) if texts else None


def normal(entry: str) -> str:
    """Return one spelling of a search path's entry."""
    first, _, rest = entry.replace("${ORIGIN}", "$ORIGIN").partition("/")
    return posixpath.join(first, posixpath.normpath(rest)).removesuffix("/.")


def inflated(data: bytes) -> bytes:
    """Return a compressed bundle's content (clang, ClangOffloadBundler: "CCOB"); raises FindingError."""
    version, method = struct.unpack_from("<HH", data, 4)
    sizes, body = {1: ("<I", 20), 2: ("<II", 24), 3: ("<QQ", 32)}[version]
    *file_size, size = struct.unpack_from(sizes, data, 8)
    whole = data[body : file_size[0] if file_size else None]
    if method:
        decoder, plain, used = ZstdDecoder(), b"", -1
        while used and not decoder.ended:
            more, used = decoder.step(whole, size + 1)
            plain, whole = plain + more, whole[used:]
    else:
        plain = zlib.decompressobj().decompress(whole)
    digest = hashlib.md5(plain, usedforsecurity=False).digest()[:8]
    if (size, digest) != (len(plain), data[body - 8 : body]):
        raise FindingError("compressed bundle", f"header {data[:body]!r} of {len(plain)} bytes")
    return plain


def read_bundle(data: bytes) -> tuple[int, list[tuple[str, bytes]]]:
    """Read the bundle that some bytes begin with: the version of its compression, 0 for none; its IDs and objects."""
    version = struct.unpack_from("<H", data, 4)[0] if data.startswith(b"CCOB") else 0
    plain = inflated(data) if version else data
    if not plain.startswith(b"__CLANG_OFFLOAD_BUNDLE__"):
        raise FindingError("no bundle", repr(plain[:24]))
    entries, at = [], 32
    for _ in range(struct.unpack_from("<Q", plain, 24)[0]):
        offset, size, length = struct.unpack_from("<QQQ", plain, at)
        entries.append((plain[at + 24 : at + 24 + length].decode(), plain[offset : offset + size]))
        at += 24 + length
    return version, entries


def bundles_of(data: bytes) -> list[bytes]:
    """Return where the bundles of a file begin, each with all that follows: of a library, where its wrappers lead."""
    if not data.startswith(b"\x7fELF"):
        return [data]
    phoff, shoff = struct.unpack_from("<QQ", data, 32)
    phnum, _, shnum, shstrndx = struct.unpack_from("<4H", data, 56)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + 64 * at) for at in range(shnum)]
    of = {_text(data, sections[shstrndx][4] + one[0]): one for one in sections}
    programs = [struct.unpack_from("<IIQQQQQQ", data, phoff + 56 * at) for at in range(phnum)]
    *_, wrappers, offset, size = of[".hipFatBinSegment"][:6]
    relocated = {}
    rela, symbols = of[".rela.dyn"], of[".dynsym"]
    for address, info, addend in struct.iter_unpack("<QQq", data[rela[4] : rela[4] + rela[5]]):
        value = struct.unpack_from("<Q", data, symbols[4] + 24 * (info >> 32) + 8)[0] if info >> 32 else 0
        relocated[address] = value + addend
    found = []
    for at in range(0, size, 24):
        address = relocated.get(wrappers + at + 8) or struct.unpack_from("<Q", data, offset + at + 8)[0]
        place = [address - one[3] + one[2] for one in programs if one[0] == PT_LOAD and 0 <= address - one[3] < one[5]]
        if len(place) != 1:
            raise FindingError("wrapper", f"{address:#x} is in {len(place)} segments")
        found.append(data[place[0] :])
    return found
