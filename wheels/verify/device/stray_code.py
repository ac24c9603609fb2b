"""Finds device code where `rocm-wheels split` cannot slice it, so that reports name it.

HIP programs have their code in the section `.hip_fatbin`, or in files by themselves. Others have code objects among
their constants, and hand them to `hipModuleLoadData`; archives and object files have some, too. All of it stays whole.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from struct import Struct
from typing import BinaryIO, Final

from lib.device.content import COMPRESSED_MAGIC
from lib.device.kpack import SUFFIX
from lib.device.model import code_object_target
from lib.device.reader import MAGIC, SECTION, read_bundle
from lib.elf import constants as c
from lib.elf.model import SectionHeader
from lib.elf.source import ElfError, Source
from lib.gpus.gpu_files import naming_part
from lib.gpus.target_id import TargetId
from lib.wheel.member_file import MemberReader
from lib.wheel.zip_members import ZipMember
from wheels.verify.device.facts import DEVICE, DeviceFacts
from wheels.verify.model import Collector, Wheel

STRAY: Final = "stray device code"
#: How a code object begins: ELF of 64 bits, little-endian, for AMD's runtime HSA (LLVM, "AMDGPU ELF Header").
_ELF_MAGIC: Final = b"\x7fELF\2\1\1\x40"
#: Elf64_Ehdr: of its fields, e_type, e_machine and e_flags.
_ELF_HEADER: Final = Struct("<16xHH28xI12x")
_MAGICS: Final = (_ELF_MAGIC, MAGIC, COMPRESSED_MAGIC)
#: More places of one file are not looked at.
_MOST: Final = 1 << 16


@dataclass(frozen=True)
class StrayCode:
    """Device code in one section of a file, or in a file without sections."""

    path: str
    section: str
    """Empty if no section has it."""
    targets: tuple[TargetId, ...]
    """Sorted."""
    has_unknown: bool = False
    """Whether there is code that does not say its target, or code for an unknown one."""

    def __str__(self) -> str:
        """Return it for people: `acme/lib.so (section .rodata: gfx90a, gfx942)`."""
        unknown = ["a GPU that is not known"] if self.has_unknown else []
        targets = ", ".join([*map(str, self.targets), *unknown])
        return f"{self.path} ({f'section {self.section}: ' if self.section else ''}{targets})"


class Places:
    """Collects where code objects and bundles may begin: file offset, and e_flags of code objects."""

    def __init__(self) -> None:
        self._found: list[tuple[int, int | None]] = []
        self._rest = b""
        self._start = 0

    def feed(self, data: bytes) -> None:
        """Look through the next bytes."""
        data = self._rest + data
        self._look(data, len(data) - _ELF_HEADER.size)
        self._rest = data[-_ELF_HEADER.size :]
        self._start += len(data) - len(self._rest)

    def finish(self) -> object:
        """Return the places, as a tuple of `Place`."""
        self._look(self._rest + bytes(_ELF_HEADER.size), len(self._rest))
        return tuple(self._found)

    def _look(self, data: bytes, end: int) -> None:
        """Look for what begins before `end`, with all of an ELF header behind it."""
        for magic in _MAGICS:
            at = data.find(magic)
            while 0 <= at < end and len(self._found) < _MOST:
                if magic is not _ELF_MAGIC:
                    self._found.append((self._start + at, None))
                elif (flags := _code_object_flags(data, at)) is not None:
                    self._found.append((self._start + at, flags))
                at = data.find(magic, at + 1)


def _code_object_flags(data: bytes, at: int) -> int | None:
    """Return e_flags of the code object whose header begins there; None if it is another ELF file's."""
    kind, machine, flags = _ELF_HEADER.unpack_from(data, at)
    return int(flags) if machine == c.EM_AMDGPU and kind in (c.ET_REL, c.ET_EXEC, c.ET_DYN) else None


def may_have_stray(path: str, size: int, head: bytes) -> bool:
    """Whether a file may have code that is not the whole of it."""
    is_by_itself = path.endswith(SUFFIX) or naming_part(path) is not None or head.startswith(_MAGICS)
    return size > _ELF_HEADER.size and not is_by_itself


COLLECTOR: Final = Collector(STRAY, may_have_stray, stream=Places)


#: Opens a file again, to look at bundles.
Opener = Callable[[], AbstractContextManager[BinaryIO]]
#: File offset, and e_flags of a code object; None for a bundle.
Place = tuple[int, int | None]


def stray_code(wheel: Wheel) -> Iterator[StrayCode]:
    """Yield the device code of a wheel that is in no section for it, by path and section."""
    members = {member.name: member for member in wheel.archive.members}
    for path, facts in wheel.files.items():
        places = facts.collected.get(STRAY)
        if isinstance(places, tuple) and places:
            # Device code that cannot be read stops the command, so what there is was read.
            is_read = isinstance(facts.collected.get(DEVICE), DeviceFacts)
            headers = facts.elf.section_headers if facts.elf is not None else ()
            yield from stray_in_file(path, headers, places, partial(_opened, wheel, members[path]), is_read=is_read)


def stray_in_file(
    path: str, headers: Sequence[SectionHeader], places: Iterable[Place], opener: Opener, *, is_read: bool
) -> Iterator[StrayCode]:
    """Yield the device code of one file by section; `is_read` says that the code in the section for it was read."""
    found: dict[str, set[TargetId | None]] = {}
    for section, targets in _outside(path, headers, places, opener, is_read=is_read):
        found.setdefault(section, set()).update(targets)
    for section, targets in sorted(found.items()):
        yield StrayCode(path, section, tuple(sorted(filter(None, targets))), None in targets)


def _outside(
    path: str, headers: Sequence[SectionHeader], places: Iterable[Place], opener: Opener, *, is_read: bool
) -> Iterator[tuple[str, set[TargetId | None]]]:
    """Yield section and targets of what begins at these places, unless it is in the section that is sliced.

    None stands for a target that is not known.
    """
    sections = ((place, _section(headers, place[0])) for place in places)
    outside = [(place, section) for place, section in sections if section != SECTION or not is_read]
    yield from ((section, {code_object_target(flags)}) for (_, flags), section in outside if flags is not None)
    bundles = [(offset, section) for (offset, flags), section in outside if flags is None]
    if bundles:
        with opener() as opened:
            for offset, section in bundles:
                if targets := _bundled(Source(opened, path), offset):
                    yield section, {*targets}


def _section(headers: Sequence[SectionHeader], offset: int) -> str:
    inside = (one.name for one in headers if one.size and one.offset <= offset < one.file_end)
    return next(inside, "")


@contextmanager
def _opened(wheel: Wheel, member: ZipMember) -> Iterator[BinaryIO]:
    with wheel.path.open("rb") as file:
        reader = MemberReader(file, member)
        for _ in reader.chunks():
            pass
        with reader.open() as opened:
            yield opened


def _bundled(source: Source, offset: int) -> set[TargetId]:
    """Return the targets of the bundle there; empty if there is none, as in programs that read bundles."""
    try:
        bundle = read_bundle(source, offset, source.size)
    except ElfError:
        return set()
    return {code.entry.target for code in bundle.code_objects if code.size and code.entry.target}
