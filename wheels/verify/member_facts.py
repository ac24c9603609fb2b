"""Takes the facts out of the members of one wheel: every byte is inflated, hashed and looked through once.

    for facts in read_members(path, members, reader): …

This is what the processes of the engine do. ELF files and PE images are not looked through while they pass by, since
only the section headers, of ELF at the end, say which parts are code, of the CPU and, by the gigabyte, of GPUs: the
rest is read again.
"""

import hashlib
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Final

from lib.elf import constants as c
from lib.elf.model import ElfFile
from lib.elf.reader import is_elf, read_elf
from lib.elf.source import ElfError
from lib.pe import constants as pe
from lib.pe.model import PeImage
from lib.pe.reader import is_pe, read_pe
from lib.wheel.member_file import CHUNK, MemberError, MemberReader
from lib.wheel.record import MAX_TEXT, record_rows
from lib.wheel.zip_members import ZipMember
from wheels.verify.model import STRONGER, FileFacts, is_driver_name, is_path_file
from wheels.verify.settings import Settings
from wheels.verify.strings import Search, Strings
from wheels.verify.suite import Collector

#: So much of a file's beginning is shown to collectors, in bytes.
HEAD: Final = 4096
#: Types of sections that are numbers throughout; SHT_RELA and SHT_REL are 4 and 9.
TABLES: Final = frozenset((c.SHT_HASH, c.SHT_GNU_HASH, c.SHT_DYNSYM, c.SHT_SYMTAB, 4, 9))
#: From this size on, in bytes, a section that cannot hold text is left out.
WORTH_SKIPPING: Final = 1 << 16
#: Sections of device code; names in PE images have eight characters.
DEVICE_SECTIONS: Final = frozenset((".hip_fatbin", ".nv_fatbin", ".hip_fat", ".nv_fatb"))
#: Sections of PE images that are numbers throughout: unwinding, and relocations.
PE_TABLES: Final = frozenset((".pdata", ".reloc"))


@dataclass(frozen=True)
class Reader:
    """What is to be taken out of every file."""

    settings: Settings
    collectors: tuple[Collector, ...] = ()
    algorithms: Mapping[str, str] = field(default_factory=dict)
    """File -> algorithm to hash it with, besides SHA-256: what `hashlib.new` takes."""


def read_members(path: Path, members: Sequence[ZipMember], reader: Reader) -> Iterator[FileFacts]:
    """Read members of a wheel, in the order given. Raises OSError when the wheel cannot be read."""
    with path.open("rb") as file:
        for member in members:
            yield _read(file, member, reader)


def read_algorithms(path: Path, members: Iterable[ZipMember]) -> dict[str, str]:
    """Read for which members of a wheel RECORD names a stronger digest than SHA-256, and which.

    Raises OSError when the wheel cannot be read. `wheels.verify.checks.record` says what is wrong with RECORD.
    """
    records = [one for one in members if is_dist_info(one.name) and one.name.count("/") == 1]
    records = [one for one in records if one.name.endswith("/RECORD") and one.readable and one.size <= MAX_TEXT]
    found: dict[str, str] = {}
    with path.open("rb") as file:
        for record in records:
            with suppress(MemberError, ValueError):
                for row in record_rows(b"".join(MemberReader(file, record).chunks())):
                    if len(row) > 1 and (algorithm := row[1].partition("=")[0]) in STRONGER:
                        found[row[0]] = algorithm
    return found


def _read(file: BinaryIO, member: ZipMember, reader: Reader) -> FileFacts:
    facts = FileFacts(member.name, member.size, member.mode, "")
    if not member.readable:
        return replace(facts, damage="its place in the archive is wrong")
    opened = MemberReader(file, member)
    try:
        return _pass(opened, facts, member, reader)
    except MemberError as error:
        return replace(facts, damage=str(error))


def _pass(opened: MemberReader, facts: FileFacts, member: ZipMember, reader: Reader) -> FileFacts:
    """Go through all bytes, then back to what has to be looked up."""
    sha256, crc32 = hashlib.sha256(), 0
    algorithm = reader.algorithms.get(member.name)
    recorded = hashlib.new(algorithm) if algorithm else None
    chunks = opened.chunks()
    first = next(chunks, b"")
    head = first[:HEAD]
    is_text = is_dist_info(member.name) or is_path_file(member.name) or is_driver_name(member.name)
    is_kept = is_text and member.size <= MAX_TEXT
    kept: list[bytes] = []
    wanted = [one for one in reader.collectors if one.wants(member.name, member.size, head)]
    streams = {one.name: one.stream(member.name) for one in wanted if one.stream is not None}
    search = None if is_elf(head) or is_pe(head) else Search(reader.settings.build_paths)
    for chunk in _chain(first, chunks):
        sha256.update(chunk)
        crc32 = zlib.crc32(chunk, crc32)
        if recorded:
            recorded.update(chunk)
        for stream in [*streams.values(), *([search] if search else [])]:
            stream.feed(chunk)
        if is_kept:
            kept.append(chunk)
    if crc32 != member.crc32:
        raise MemberError(f"its CRC-32 is {crc32:08x}, the archive says {member.crc32:08x}")
    content = b"".join(kept) if is_kept else None
    facts = replace(
        facts, sha256=sha256.hexdigest(), recorded=recorded.hexdigest() if recorded else "", content=content
    )
    if search is None:
        read = _read_elf if is_elf(head) else _read_pe
        facts, strings = read(opened.open(), facts, reader.settings)
    else:
        strings = search.finish()
    collected = {name: stream.finish() for name, stream in streams.items()}
    for one in wanted:
        if one.inspect is not None:
            collected[one.name] = one.inspect(opened.open(), member.name)
    return replace(facts, strings=strings, collected=collected)


def is_dist_info(path: str) -> bool:
    """Whether a path lies in a .dist-info directory at the top."""
    return path.partition("/")[0].endswith(".dist-info")


def _chain(first: bytes, rest: Iterable[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def _read_elf(file: BinaryIO, facts: FileFacts, settings: Settings) -> tuple[FileFacts, Strings]:
    """Read the headers of an ELF file, and look through what is not device code."""
    try:
        elf = read_elf(file, facts.path)
    except ElfError as error:
        return replace(facts, elf_damage=f"at {error.offset:#x}: {error.reason}"), Strings()
    if elf.machine == c.EM_AMDGPU:
        return replace(facts, elf=elf), Strings()
    return replace(facts, elf=elf), _searched(file, text_ranges(elf), settings)


def _read_pe(file: BinaryIO, facts: FileFacts, settings: Settings) -> tuple[FileFacts, Strings]:
    """Read the tables of a PE image, and search parts that may contain text, or all of a damaged image."""
    try:
        image = read_pe(file, facts.path)
    except ElfError as error:
        damage = f"at {error.offset:#x}: {error.reason}"
        return replace(facts, pe_damage=damage), _searched(file, [(0, facts.size)], settings)
    return replace(facts, pe=image), _searched(file, pe_text_ranges(image), settings)


def _searched(file: BinaryIO, ranges: Iterable[tuple[int, int]], settings: Settings) -> Strings:
    """Look through parts of a file."""
    search = Search(settings.build_paths)
    for start, end in ranges:
        search.skip(start)
        file.seek(start)
        while start < end and (data := file.read(min(CHUNK, end - start))):
            start += len(data)
            search.feed(data)
    return search.finish()


def text_ranges(elf: ElfFile) -> list[tuple[int, int]]:
    """Return the file offsets, start and end, of what may hold text: not code, of CPU or GPU, nor large tables."""
    skipped = (
        (one.offset, one.file_end)
        for one in elf.section_headers
        if one.name in DEVICE_SECTIONS
        or (
            one.size >= WORTH_SKIPPING
            and (one.flags & c.SHF_EXECINSTR or one.type in TABLES or one.name == ".eh_frame")
        )
    )
    return _without(skipped, elf.size)


def pe_text_ranges(image: PeImage) -> list[tuple[int, int]]:
    """Return the same of a PE image."""
    skipped = (
        (one.begin, one.begin + one.size_of_raw_data)
        for one in image.sections
        if one.pointer_to_raw_data
        and (
            one.name in DEVICE_SECTIONS
            or (
                one.size_of_raw_data >= WORTH_SKIPPING
                and (one.characteristics & pe.IMAGE_SCN_MEM_EXECUTE or one.name in PE_TABLES)
            )
        )
    )
    return _without(skipped, image.size)


def _without(skipped: Iterable[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """Return the ranges of a file of that size that are left without others."""
    ranges, at = [], 0
    for start, end in sorted(skipped):
        if start > at:
            ranges.append((at, start))
        at = max(at, end)
    if at < size:
        ranges.append((at, size))
    return ranges
