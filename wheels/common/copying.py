"""Files of a wheel on their way into another one: as they are deflated, or inflated to be edited."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from stat import S_IMODE
from typing import Final

from lib.common.command import CannotRunError
from lib.wheel.member_file import MemberError, MemberReader
from lib.wheel.output_file import Output
from lib.wheel.wheel_writer import WheelMember
from lib.wheel.zip_members import ZipMember
from wheels.common.sound_wheel import SoundWheel

#: Permissions of a file whose archive does not say them: it was not made on Unix.
DEFAULT_MODE: Final = 0o644


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


def space_for(wheel: SoundWheel, copied: Iterable[str], packed: Mapping[str, float]) -> int:
    """Return about how many bytes it takes on the disk to write a wheel with these files.

    Copied files are as large as before. Of packed ones, the number says which part is kept, and there are two copies.
    """
    once = sum(wheel.members[source].compressed for source in copied)
    twice = sum(round(part * wheel.members[source].compressed) for source, part in packed.items())
    headers = wheel.wheel.size - sum(member.compressed for member in wheel.members.values())
    return headers + once + 2 * twice


def inflated_size(wheel: SoundWheel, sources: Iterable[str]) -> int:
    """Return the size in bytes of the largest of these files: packed ones are inflated on the disk one at a time."""
    return max((wheel.members[source].size for source in sources), default=0)


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
