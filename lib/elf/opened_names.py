"""Names of libraries among the constants of a program or library, which it may open at run time.

Whoever calls dlopen(3) has the name as a string, nearly always a constant of the section .rodata. So each string there
is taken that is the name of a library, or a path that ends in one: `libfoo.so`, `libfoo.so.1`, `../lib/libfoo.so.1`.
String tables do not count: tools that rename what a file needs leave the old names behind in them. Names that are put
together at run time (`lib%s.so`) are not found, and not each string that is found is opened.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from lib.elf import constants as c
from lib.elf.library_name import SUFFIX
from lib.elf.model import ElfFile
from lib.elf.source import Source

#: A whole string: maybe directories, and the name.
_NAME: Final = re.compile(rb"(?:[\x20-\x7e]*/)?lib[A-Za-z0-9_.+-]+?" + SUFFIX.encode())
_SUFFIX: Final = b".so"
#: No longer string is looked at, in bytes.
_LONGEST: Final = 512
_CHUNK: Final = 1 << 20
#: Sections whose name begins like this hold constants.
_SECTION: Final = ".rodata"


def read_opened_names(file: BinaryIO, elf: ElfFile) -> tuple[str, ...]:
    """Return the names and paths, sorted, none twice. Raises ElfError when the file is cut short."""
    source = Source(file, elf.path)
    names: set[str] = set()
    for section in elf.section_headers:
        if section.name.startswith(_SECTION) and section.type == c.SHT_PROGBITS:
            names.update(_read_names(source, section.offset, section.size))
    return tuple(sorted(names))


def _read_names(source: Source, offset: int, size: int) -> Iterator[str]:
    before, end = b"\0", offset + size
    while offset < end:
        data = source.read(offset, min(_CHUNK, end - offset), "constants")
        offset += len(data)
        text = before + data + (b"\0" if offset == end else b"")
        yield from find_names(text)
        before = text[-2 * _LONGEST :]


def find_names(text: bytes) -> Iterator[str]:
    """Yield the names in constants; a string counts that has a NUL before and behind it."""
    at = text.find(_SUFFIX)
    while at >= 0:
        start, end = text.rfind(b"\0", max(0, at - _LONGEST), at), text.find(b"\0", at, at + _LONGEST)
        match = _NAME.fullmatch(text, start + 1, end) if start >= 0 and end >= 0 else None
        if match:
            yield match[0].decode("ascii")
        at = text.find(_SUFFIX, at + 1)
