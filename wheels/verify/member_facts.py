"""Takes the facts out of the members of one wheel: every byte is inflated and hashed once.

    for facts in read_members(path, members, reader): …

This is what the processes of the engine do.
"""

import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Final

from lib.elf.reader import is_elf, read_elf
from lib.elf.source import ElfError
from lib.pe.reader import is_pe, read_pe
from lib.wheel.member_file import MemberError, MemberReader
from lib.wheel.record import MAX_TEXT, record_rows
from lib.wheel.zip_members import ZipMember
from wheels.verify.model import STRONGER, FileFacts, is_configuration, is_driver_name, is_path_file
from wheels.verify.suite import Collector

#: So much of a file's beginning is shown to collectors, in bytes.
HEAD: Final = 4096


@dataclass(frozen=True)
class Reader:
    """What is to be taken out of every file."""

    collectors: tuple[Collector, ...] = ()
    algorithms: Mapping[str, str] = field(default_factory=dict)
    """File -> algorithm to hash it with, besides SHA-256: what `hashlib.new` takes."""
    build_path: re.Pattern[bytes] | None = None
    """A path of the machine that built the wheel, to be found in configuration files."""


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
    is_searched = reader.build_path is not None and is_configuration(member.name)
    is_kept = (is_text or is_searched) and member.size <= MAX_TEXT
    kept: list[bytes] = []
    wanted = [one for one in reader.collectors if one.wants(member.name, member.size, head)]
    streams = {one.name: one.stream(member.name) for one in wanted if one.stream is not None}
    for chunk in _chain(first, chunks):
        sha256.update(chunk)
        crc32 = zlib.crc32(chunk, crc32)
        if recorded:
            recorded.update(chunk)
        for stream in streams.values():
            stream.feed(chunk)
        if is_kept:
            kept.append(chunk)
    if crc32 != member.crc32:
        raise MemberError(f"its CRC-32 is {crc32:08x}, the archive says {member.crc32:08x}")
    text = b"".join(kept)
    facts = replace(
        facts,
        sha256=sha256.hexdigest(),
        recorded=recorded.hexdigest() if recorded else "",
        content=text if is_text and is_kept else None,
    )
    if is_elf(head):
        facts = _read_elf(opened.open(), facts)
    elif is_pe(head):
        facts = _read_pe(opened.open(), facts)
    elif is_searched and reader.build_path:
        facts = replace(facts, build_paths=tuple(sorted({one.decode() for one in reader.build_path.findall(text)})))
    collected = {name: stream.finish() for name, stream in streams.items()}
    for one in wanted:
        if one.inspect is not None:
            collected[one.name] = one.inspect(opened.open(), member.name)
    return replace(facts, collected=collected)


def is_dist_info(path: str) -> bool:
    """Whether a path lies in a .dist-info directory at the top."""
    return path.partition("/")[0].endswith(".dist-info")


def _chain(first: bytes, rest: Iterable[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def _read_elf(file: BinaryIO, facts: FileFacts) -> FileFacts:
    """Read the headers of an ELF file."""
    try:
        return replace(facts, elf=read_elf(file, facts.path))
    except ElfError as error:
        return replace(facts, elf_damage=f"at {error.offset:#x}: {error.reason}")


def _read_pe(file: BinaryIO, facts: FileFacts) -> FileFacts:
    """Read the tables of a PE image."""
    try:
        return replace(facts, pe=read_pe(file, facts.path))
    except ElfError as error:
        return replace(facts, pe_damage=f"at {error.offset:#x}: {error.reason}")
