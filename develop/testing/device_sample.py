"""Makes offload bundles, and libraries that hold them, byte by byte for the tests, with no compiler.

    data = Sample((Part(bundle([("hipv4-amdgcn-amd-amdhsa--gfx1030", b"code")])),)).build()

They follow the formats closely enough for clang-offload-bundler, llvm-objdump and readelf; no code object holds code.
"""

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from struct import pack
from typing import Protocol

from lib.device.content import COMPRESSED_MAGIC
from lib.device.model import Method, Pointer
from lib.device.reader import MAGIC
from lib.device.wrapper import MAGIC as WRAPPER_MAGIC
from lib.elf import constants as c
from lib.elf.dynamic_symbols import SYM_SIZE
from lib.elf.platforms import BY_MACHINE
from lib.elf.references import DT_RELA, DT_RELASZ, DT_RELR, DT_RELRSZ

HOST = "host-x86_64-unknown-linux-gnu-"
PREFIX = "hipv4-amdgcn-amd-amdhsa--"
#: A library is loaded this many bytes above its file offsets.
BASE = 0x10000
PAGE = 0x1000


def bundle(entries: Sequence[tuple[str, bytes]], align: int = PAGE) -> bytes:
    """Make a plain offload bundle: entry IDs and code objects, each aligned as clang does it."""
    table_size = len(MAGIC) + 8 + sum(24 + len(name.encode()) for name, _ in entries)
    table, body = MAGIC + pack("<Q", len(entries)), b""
    for name, code in entries:
        body += bytes(-(table_size + len(body)) % align)
        table += pack("<QQQ", table_size + len(body), len(code), len(name.encode())) + name.encode()
        body += code
    return table + body


def zstd_frame(data: bytes) -> bytes:
    """Make a zstd frame (RFC 8878) of blocks that are stored, or that repeat one byte."""
    blocks = [data[at : at + 0x20000] for at in range(0, len(data), 0x20000)] or [b""]
    frame = b"\x28\xb5\x2f\xfd\xa0" + pack("<I", len(data))
    for number, block in enumerate(blocks, 1):
        repeats = len(block) > 1 and block == block[:1] * len(block)
        header = (number == len(blocks)) | repeats << 1 | len(block) << 3
        frame += header.to_bytes(3, "little") + (block[:1] if repeats else block)
    return frame


def compressed(
    data: bytes, version: int = 2, method: Method = Method.ZLIB, *, inflated_size: int | None = None
) -> bytes:
    """Compress a bundle; `inflated_size` is what the header says instead of the truth."""
    body = zlib.compress(data) if method is Method.ZLIB else zstd_frame(data)
    said = len(data) if inflated_size is None else inflated_size
    sizes = {
        1: pack("<I", said),
        2: pack("<II", 24 + len(body), said & 0xFFFFFFFF),
        3: pack("<QQ", 32 + len(body), said),
    }
    digest = hashlib.md5(data, usedforsecurity=False).digest()[:8]
    return COMPRESSED_MAGIC + pack("<HH", version, method.value) + sizes[version] + digest + body


class _Place(Protocol):
    def __call__(self, name: str, content: bytes, kind: int = ..., align: int = ...) -> int: ...


@dataclass(frozen=True)
class Part:
    """A bundle in a library, what makes its wrapper's pointer right (None: it has no wrapper), and zeros behind it.

    `again` is the pointer of a second wrapper of the same bundle, if there is to be one.
    """

    data: bytes
    pointer: Pointer | None = Pointer.RELATIVE
    padding: int = 0
    again: Pointer | None = None


class First(Enum):
    """What follows the program headers at once."""

    NOTHING = 0
    BUILD_ID = 1
    """Known to be movable, when there are to be more program headers."""
    DATA = 2
    """Not so."""


@dataclass(frozen=True)
class Sample:
    """A library with device code. Bundles begin on pages; wrappers have the order of their bundles."""

    parts: tuple[Part, ...] = ()
    machine: int = c.EM_X86_64
    kind: int = c.ET_DYN
    first: First = First.NOTHING
    soname: str | None = None

    def build(self) -> bytes:
        """Lay the file out: headers, bundles, wrappers, dynamic symbols, relocations, dynamic section."""
        count = 3 if self.first is First.BUILD_ID else 2
        data = bytearray(64 + count * 56)
        sections: list[tuple[str, int, int, int]] = []

        def place(name: str, content: bytes, kind: int = c.SHT_PROGBITS, align: int = 8) -> int:
            data.extend(bytes(-len(data) % align))
            sections.append((name, kind, len(data), len(content)))
            data.extend(content)
            return BASE + len(data) - len(content)

        if self.first is First.BUILD_ID:
            place(".note.gnu.build-id", pack("<III4s", 4, 20, c.NT_GNU_BUILD_ID, b"GNU") + bytes(range(20)), c.SHT_NOTE)
        elif self.first is First.DATA:
            place(".rodata", b"some data")
        fatbin, starts = b"", []
        for part in self.parts:
            fatbin += bytes(-len(fatbin) % PAGE)
            starts.append(len(fatbin))
            fatbin += part.data + bytes(part.padding)
        if self.parts:
            first = place(".hip_fatbin", fatbin, align=PAGE)
            targets = [
                (first + start, pointer)
                for start, part in zip(starts, self.parts, strict=True)
                for pointer in (part.pointer, part.again)
                if pointer
            ]
            self._place_wrappers(place, targets, BASE + len(data) + -len(data) % 8)
        end = len(data)
        names = b"\0" + b"".join(name.encode() + b"\0" for name, *_ in sections) + b".shstrtab\0"
        place(".shstrtab", names, c.SHT_STRTAB, 1)
        data += bytes(-len(data) % 8)
        dynamic = next(((offset, size) for name, _, offset, size in sections if name == ".dynamic"), (0, 0))
        programs = ((c.PT_LOAD, 0, end), (c.PT_DYNAMIC, *dynamic), (c.PT_NOTE, 64 + count * 56, 36))[:count]
        data[64 : 64 + count * 56] = b"".join(
            pack("<IIQQQQQQ", kind, c.PF_R | c.PF_W, at, BASE + at, BASE + at, size, size, 8)
            for kind, at, size in programs
        )
        fields = (self.kind, self.machine, 1, 0, 64, len(data), 0, 64, 56, count, 64, len(sections) + 1, len(sections))
        data[:64] = b"\x7fELF\2\1\1".ljust(16, b"\0") + pack("<HHIQQQIHHHHHH", *fields)
        data += bytes(64)
        for name, kind, offset, size in sections:
            flags = c.SHF_ALLOC if name != ".shstrtab" else 0
            at = names.index(b"\0" + name.encode() + b"\0") + 1
            entry_size = SYM_SIZE if kind == c.SHT_DYNSYM else 0
            data += pack(
                "<IIQQQQIIQQ", at, kind, flags, BASE + offset if flags else 0, offset, size, 0, 0, 1, entry_size
            )
        return bytes(data)

    def _place_wrappers(self, place: _Place, targets: Sequence[tuple[int, Pointer]], address: int) -> None:
        """Place wrappers for bundles at these virtual addresses from `address` on, and what relocates them."""
        wrappers, rela, relr, symbols = b"", b"", [], bytes(24)
        for number, (target, pointer) in enumerate(targets):
            inside = target if pointer in (Pointer.IN_PLACE, Pointer.RELR) else 0
            wrappers += pack("<IIQQ", WRAPPER_MAGIC, 1, inside, 0)
            at = address + 24 * number + 8
            if pointer is Pointer.RELATIVE:
                rela += pack("<QQQ", at, BY_MACHINE[self.machine].relative, target)
            elif pointer is Pointer.SYMBOL:
                # By turns, a symbol of the bundle, and the distance from one of the section.
                value = targets[0][0] if number % 2 else target
                rela += pack("<QQQ", at, len(symbols) // 24 << 32 | BY_MACHINE[self.machine].symbolic, target - value)
                symbols += pack("<IBBHQQ", 0, 0x11, 0, 1 + (self.first is not First.NOTHING), value, 0)
            elif pointer is Pointer.RELR:
                relr.append(at)
        place(".hipFatBinSegment", wrappers)
        entries = [(c.DT_SYMTAB, place(".dynsym", symbols, c.SHT_DYNSYM))]
        entries += [(DT_RELA, place(".rela.dyn", rela)), (DT_RELASZ, len(rela))]
        words = b"".join(pack("<Q", word) for word in relr_words(relr))
        entries += [(DT_RELR, place(".relr.dyn", words)), (DT_RELRSZ, len(words))]
        strings = b"\0" if self.soname is None else b"\0" + self.soname.encode() + b"\0"
        entries += [(c.DT_STRTAB, place(".dynstr", strings, c.SHT_STRTAB, 1)), (c.DT_STRSZ, len(strings))]
        entries += [] if self.soname is None else [(c.DT_SONAME, 1)]
        place(".dynamic", b"".join(pack("<qQ", *entry) for entry in (*entries, (c.DT_NULL, 0))), c.SHT_DYNAMIC)


def relr_words(places: Sequence[int]) -> list[int]:
    """Encode sorted virtual addresses as DT_RELR has them: an even address, then bitmaps of what follows it."""
    words: list[int] = []
    base = 0
    for place in places:
        ahead, beside = divmod(place - base, 8)
        if words and not beside and ahead < 63 and words[-1] & 1:
            words[-1] |= 2 << ahead
        elif words and not beside and 0 <= ahead < 63 and not words[-1] & 1:
            words.append(1 | 2 << ahead)
        else:
            words.append(place)
            base = place + 8
    return words
