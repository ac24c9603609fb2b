"""Reads what the loader's rules are applied to: the dynamic section of a program or library, and names in it.

Beside what the section says these are the symbol versions that the file defines, and the names of libraries that it may
open at run time. Whoever calls dlopen(3) has the name as a string, nearly always a constant of the section .rodata. So
each string there is taken that is the name of a library, or a path that ends in one: `libfoo.so`, `libfoo.so.1`,
`../lib/libfoo.so.1`. String tables do not count: tools that rename what a file needs leave the old names behind in
them. Names that are put together at run time (`lib%s.so`) are not found, and not each string that is found is opened.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

from lib.elf import constants as c
from lib.elf.model import ElfFile
from lib.elf.reader import read_elf
from lib.elf.source import Source
from lib.pack.forwarder import COMMENT
from wheels.verify.wheel_set.model import Linked

#: A whole string: maybe directories, and the name.
_NAME: Final = re.compile(rb"(?:[\x20-\x7e]*/)?(lib[A-Za-z0-9_.+-]+?\.so(?:\.[0-9]{1,8}){0,4})")
_SUFFIX: Final = b".so"
#: No longer string is looked at, in bytes.
_LONGEST: Final = 512
_CHUNK: Final = 1 << 20
#: Sections whose name begins like this hold constants.
_SECTION: Final = ".rodata"


def read_opened_names(file: BinaryIO, elf: ElfFile) -> tuple[str, ...]:
    """Return the names, sorted, without directories and none twice. Raises ElfError when the file is cut short."""
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
            yield match[1].decode("ascii")
        at = text.find(_SUFFIX, at + 1)


#: No forwarder is bigger, in bytes: it takes about 1,000, and 50 for each version of symbols.
_FORWARDER_SIZE: Final = 1 << 16


def read_linked(file: BinaryIO, path: str) -> Linked | None:
    """Read a file that begins like ELF; None if the dynamic loader has nothing to do with it. Raises ElfError.

    It has not with static programs, device code and separate debug information.
    """
    elf = read_elf(file, path)
    if not elf.has_dynamic or elf.machine == c.EM_AMDGPU or elf.debug_only:
        return None
    return Linked(
        path=path,
        elf_class=elf.elf_class,
        machine=elf.machine,
        soname=elf.soname,
        needed=elf.needed,
        rpath=_entries(elf.rpath) if elf.runpath is None else (),
        runpath=_entries(elf.runpath),
        requires=dict(elf.versions_needed),
        provides=frozenset(elf.versions_defined),
        opens=read_opened_names(file, elf),
        is_forwarder=_is_forwarder(file, elf),
    )


def _entries(text: str | None) -> tuple[str, ...]:
    return tuple(text.split(":")) if text is not None else ()


def _is_forwarder(file: BinaryIO, elf: ElfFile) -> bool:
    if elf.size >= _FORWARDER_SIZE:
        return False
    comments = (section for section in elf.section_headers if section.name == ".comment")
    source = Source(file, elf.path)
    return any(source.read(section.offset, section.size, ".comment") == COMMENT for section in comments)
