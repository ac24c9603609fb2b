"""Writes new wheels out of a sound one: files are copied as they are deflated, or inflated, edited and packed anew."""

import argparse
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from stat import S_IMODE
from typing import Final

from lib.common.command import CannotRunError
from lib.common.program import usable_cores
from lib.pack.packed_tree import packed_run
from lib.pack.packer import Work, pack_unit
from lib.pack.segment import LEVELS
from lib.plan.edits import Edit, Edits
from lib.wheel.deflated_run import join
from lib.wheel.member_file import MemberError, MemberReader
from lib.wheel.metadata_editor import CoreMetadata
from lib.wheel.output_file import Output
from lib.wheel.wheel_name import WheelName
from lib.wheel.wheel_writer import WheelMember, Written, text_member, write_wheel
from lib.wheel.zip_members import STORED, ZipMember
from wheels.common.sound_wheel import SIGNATURES, SoundWheel

#: Permissions of a file whose archive does not say them: it was not made on Unix.
DEFAULT_MODE: Final = 0o644
#: Files of the .dist-info directory that every new wheel has its own of, or none.
MADE: Final = ("METADATA", "RECORD", *SIGNATURES)
#: More threads would wait for the disk.
MAX_THREADS: Final = 8


def add_wheel_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of every command that makes new wheels out of one."""
    parser.add_argument(
        "--rewrite-record",
        action="store_true",
        help="also take a wheel with a wrong RECORD, as pip installs it: RECORD is written from the files",
    )
    parser.add_argument(
        "--compression", choices=LEVELS, default="balanced", help="speed or size (default: %(default)s)"
    )


@dataclass(frozen=True)
class CopiedMember:
    """The bytes of a member as they are deflated in the wheel."""

    wheel: str
    offset: int
    length: int
    size: int
    crc32: int

    def write_to(self, output: Output) -> None:
        """Append the deflated bytes to a file."""
        output.copy(self.wheel, self.offset, self.length)


def file_mode(member: ZipMember) -> int:
    """Return the permission bits of a file."""
    return S_IMODE(member.mode) or DEFAULT_MODE


def copied_member(wheel: SoundWheel, source: str, path: str) -> WheelMember:
    """Return the file `source` of a wheel as the member `path` of another one, with the bytes as they are deflated."""
    member = wheel.members[source]
    data = CopiedMember(str(wheel.path), member.data, member.compressed, member.size, member.crc32)
    return WheelMember(path, file_mode(member), data, wheel.wheel.files[source].sha256)


def can_be_copied(wheel: SoundWheel, source: str) -> bool:
    """Whether the wheel deflates a file, as all files of new wheels are."""
    return wheel.members[source].method != STORED


def packed_members(
    wheel: SoundWheel, source: str, inflated: Path, edits: Mapping[Edit, Sequence[str]], level: str
) -> dict[tuple[Edit, str], WheelMember]:
    """Pack an inflated file of the wheel, once for each edit, and remove it.

    Returns the members by edit and by each of its paths; `level` is a key of LEVELS. Segments lie beside the file.
    """
    work = [Work(Edits((edit,)), inflated.with_suffix(f".{number}.segment")) for number, edit in enumerate(edits)]
    try:
        indexes = pack_unit(work, {source: str(inflated)}, None, LEVELS[level], usable_cores(MAX_THREADS))
    finally:
        inflated.unlink()
    found = {}
    for (edit, paths), one, index in zip(edits.items(), work, indexes, strict=True):
        entry = index.entries[0]
        for path in paths:
            run = join([packed_run(entry, str(one.segment))])
            found[edit, path] = WheelMember(path, file_mode(wheel.members[source]), run, entry.sha256)
    return found


def packed_member(wheel: SoundWheel, source: str, path: str, inflated: Path, level: str) -> WheelMember:
    """Pack an inflated file of the wheel as the member `path`, and remove it."""
    edit = Edit(source, f"{file_mode(wheel.members[source]):o}", source=source)
    [member] = packed_members(wheel, source, inflated, {edit: [path]}, level).values()
    return member


def write_new_wheel(
    path: Path,
    wheel: SoundWheel,
    name: WheelName,
    members: Iterable[WheelMember],
    metadata: CoreMetadata,
    texts: Iterable[tuple[str, bytes]],
) -> Written:
    """Write a wheel of these members, METADATA, and new files. Raises ToolError if the old wheel was changed."""
    made = [text_member(f"{name.dist_info}/METADATA", metadata.encode())]
    made += [text_member(place, content) for place, content in texts]
    try:
        path.parent.mkdir(exist_ok=True)
        with path.open("wb") as out:
            written = write_wheel(out, [*members, *made], name.dist_info)
    except EOFError:
        wheel.check_unchanged()
        raise
    wheel.check_unchanged()
    return written


def inflate(wheel: SoundWheel, source: str, to: Path) -> None:
    """Inflate a file of the wheel. Raises ToolError if the file changed since the wheel was read."""
    sha256 = hashlib.sha256()
    try:
        with wheel.path.open("rb") as file, to.open("wb") as out:
            for chunk in MemberReader(file, wheel.members[source]).chunks():
                sha256.update(chunk)
                out.write(chunk)
    except MemberError as error:
        reason = f"{source} {error}; was the wheel changed while it was read? Try again"
        raise CannotRunError(f"{wheel.path}: {reason}") from None
    if sha256.hexdigest() != wheel.wheel.files[source].sha256:
        raise CannotRunError(f"{wheel.path}: {source} was changed while the wheel was read. Try again")
