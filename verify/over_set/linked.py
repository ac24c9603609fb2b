"""Makes the record of a program or library that the loader's rules are applied to."""

from typing import BinaryIO, Final

from tools.actions.pack.forwarder import COMMENT
from tools.lib.elf import constants as c
from tools.lib.elf.model import ElfFile
from tools.lib.elf.reader import read_elf
from tools.lib.elf.source import Source
from verify.over_set.model import Linked
from verify.over_set.opened import read_opened_names
from verify.over_set.versions import read_defined_versions

#: No forwarder is bigger, in bytes.
_FORWARDER_SIZE: Final = 4096


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
        provides=read_defined_versions(file, elf),
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
