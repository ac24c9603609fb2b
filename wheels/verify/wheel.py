"""Reads a wheel: its name, its archive, and the facts about its files. Every byte is inflated and hashed once.

opened = open_wheel(path)                                     # structure only
facts = read_members(path, opened.to_read, Reader())          # in the processes of the engine
wheel = make_wheel(opened, facts)                             # once all members were read
"""

import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final

from packaging.metadata import Metadata
from packaging.tags import Tag
from packaging.utils import NormalizedName, parse_wheel_filename
from packaging.version import Version

from lib.elf.reader import is_elf, read_elf
from lib.elf.source import ElfError
from lib.pe.reader import is_pe, read_pe
from lib.wheel.member_file import MemberError, MemberReader
from lib.wheel.record import MAX_TEXT
from lib.wheel.variant_format import check_label, split_label
from lib.wheel.zip_members import Archive, ZipMember
from lib.wheel.zip_reader import read_archive
from wheels.verify.model import Collector, FileFacts, Wheel, is_configuration, is_driver_name, is_path_file

#: So much of a file's beginning is shown to collectors, in bytes.
HEAD: Final = 4096


@dataclass(frozen=True)
class Reader:
    """Facts to take from each file."""

    collectors: tuple[Collector, ...] = ()
    build_path: re.Pattern[bytes] | None = None
    """A path of the machine that built the wheel, to be found in configuration files."""


def read_members(path: Path, members: Sequence[ZipMember], reader: Reader) -> Iterator[FileFacts]:
    """Read members of a wheel, in the order given. Raises OSError when the wheel cannot be read."""
    with path.open("rb") as file:
        for member in members:
            yield _read(file, member, reader)


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
    chunks = opened.chunks()
    first = next(chunks, b"")
    head = first[:HEAD]
    is_text = is_dist_info(member.name) or is_path_file(member.name) or is_driver_name(member.name)
    is_searched = reader.build_path is not None and is_configuration(member.name)
    is_kept = (is_text or is_searched) and member.size <= MAX_TEXT
    kept: list[bytes] = []
    wanted = [one for one in reader.collectors if one.wants(member.name, member.size, head)]
    for chunk in _chain(first, chunks):
        sha256.update(chunk)
        crc32 = zlib.crc32(chunk, crc32)
        if is_kept:
            kept.append(chunk)
    if crc32 != member.crc32:
        raise MemberError(f"its CRC-32 is {crc32:08x}, the archive says {member.crc32:08x}")
    text = b"".join(kept)
    facts = replace(facts, sha256=sha256.hexdigest(), content=text if is_text and is_kept else None)
    if is_elf(head) or is_pe(head):
        facts = read_program(opened.open(), facts)
    elif is_searched and reader.build_path:
        facts = replace(facts, build_paths=tuple(sorted({one.decode() for one in reader.build_path.findall(text)})))
    return replace(facts, collected={one.name: one.inspect(opened.open(), facts) for one in wanted})


def is_dist_info(path: str) -> bool:
    """Whether a path lies in a .dist-info directory at the top."""
    return path.partition("/")[0].endswith(".dist-info")


def _chain(first: bytes, rest: Iterable[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def read_program(file: BinaryIO, facts: FileFacts) -> FileFacts:
    """Read the headers and tables of an ELF file or PE image, if the file is one."""
    head = file.read(4)
    try:
        if is_pe(head):
            return replace(facts, pe=read_pe(file, facts.path))
        return replace(facts, elf=read_elf(file, facts.path)) if is_elf(head) else facts
    except ElfError as error:
        damage = f"at {error.offset:#x}: {error.reason}"
        return replace(facts, pe_damage=damage) if is_pe(head) else replace(facts, elf_damage=damage)


#: `int` raises ValueError for such a number, on every Python since 2022.
_TOO_LONG: Final = re.compile(rb"[0-9]{4301}")


@dataclass(frozen=True)
class OpenedWheel:
    """A wheel of which only the structure is known."""

    path: Path
    size: int
    archive: Archive

    @property
    def to_read(self) -> tuple[ZipMember, ...]:
        """The members that are files; of several with one name the last, as installers do it. Sorted."""
        files = {member.name: member for member in self.archive.members if not member.is_directory}
        return tuple(files[name] for name in sorted(files))


def open_wheel(path: Path) -> OpenedWheel:
    """Read the structure of a wheel. Raises OSError when the file cannot be read."""
    with path.open("rb") as file:
        return OpenedWheel(path, path.stat().st_size, read_archive(file))


def make_wheel(opened: OpenedWheel, facts: Iterable[FileFacts]) -> Wheel:
    """Put a wheel together of the facts about all its members."""
    files = {one.path: one for one in sorted(facts, key=lambda one: one.path)}
    plain, label = _split_label(opened.path.name)
    name, version, tags = _parse_name(plain)
    dist_infos = sorted({path.partition("/")[0] for path in files if path.partition("/")[0].endswith(".dist-info")})
    dist_info = dist_infos[0] if len(dist_infos) == 1 else None
    text = files.get(f"{dist_info}/METADATA")
    metadata = parse_metadata(text.content) if text is not None and text.content is not None else None
    return Wheel(
        opened.path,
        opened.size,
        opened.archive,
        files,
        name,
        version,
        tags,
        dist_info,
        metadata if isinstance(metadata, Metadata) else None,
        label if name is not None else "",
    )


def _split_label(filename: str) -> tuple[str, str]:
    """Return a wheel's file name without the label of a wheel variant, and the label; the whole name if it has none."""
    plain, label = split_label(filename)
    try:
        check_label(label)
    except ValueError:
        return filename, ""
    return plain, label


def _parse_name(filename: str) -> tuple[NormalizedName | None, Version | None, frozenset[Tag]]:
    try:
        name, version, _, tags = parse_wheel_filename(filename)
    except ValueError:  # InvalidWheelFilename, InvalidVersion, InvalidTag
        return None, None, frozenset()
    return name, version, tags


def parse_metadata(content: bytes) -> Metadata | list[str]:
    """Parse core metadata strictly; what is wrong with it if it is not valid."""
    if _TOO_LONG.search(content.partition(b"\n\n")[0]):
        return ["a number of more than 4300 digits, which Python does not read"]
    try:
        return Metadata.from_email(content, validate=True)
    except ExceptionGroup as group:
        return [str(error) for error in group.exceptions]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return [f"{type(error).__name__}: {error}"]
