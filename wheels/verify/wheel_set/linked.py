"""Reads what the loader's rules are applied to: the dynamic section of a program or library.

Beside what the section says these are the symbol versions that the file defines, and the names of libraries that it may
open at run time (`lib.elf.opened_names`).
"""

import posixpath
from typing import BinaryIO, Final

from lib.elf import constants as c
from lib.elf.model import ElfFile
from lib.elf.opened_names import read_opened_names
from lib.elf.reader import read_elf
from lib.elf.source import Source
from lib.pack.forwarder import COMMENT
from wheels.verify.wheel_set.model import Linked

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
        opens=tuple(sorted({posixpath.basename(name) for name in read_opened_names(file, elf)})),
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
