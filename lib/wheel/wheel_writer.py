"""Links a wheel (PEP 427): the tree of a package, its glue, and its metadata.

Members are sorted; the dist-info directory comes last and RECORD at its very end, so
that an installer that reads on finds the metadata together. Names and digests of the
tree come from the plan and the segments' indexes: bulk data is copied, never inflated,
except a devel package's archive, whose one SHA-256 can only be taken of the whole.
"""

import hashlib
import posixpath
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO

from lib.common.archive_time import archive_time
from lib.common.program import ToolError
from lib.wheel.deflated_run import Joined, inflated_sha256, join, small_run
from lib.wheel.output_file import Output
from lib.wheel.record import record_text
from lib.wheel.zip_writer import MemberData, ZipArchive


@dataclass(frozen=True)
class WheelMember:
    """One file of a wheel."""

    name: str
    #: Permission bits.
    mode: int
    data: MemberData
    #: SHA-256 of the file, in hex.
    sha256: str


@dataclass(frozen=True)
class Written:
    """A file that was written: its size in bytes, and its SHA-256 in hex."""

    size: int
    sha256: str


def text_member(name: str, content: bytes, mode: int = 0o644) -> WheelMember:
    """Return a member made of a few bytes."""
    return WheelMember(name, mode, join([small_run(content)]), hashlib.sha256(content).hexdigest())


def joined_member(name: str, data: Joined) -> WheelMember:
    """Return a member made of runs whose digest nobody took yet."""
    return WheelMember(name, 0o644, data, inflated_sha256(data))


def _check_names(names: Iterable[str]) -> None:
    """Raise ToolError unless each name belongs to one file, and to no directory, and lies in site-packages."""
    counts = Counter(names)
    for name in sorted(counts):
        if {"", ".", ".."} & set(name.split("/")):
            raise ToolError(
                f"{name}: not a valid path in a wheel; expected a relative path without `..`, `.` and empty parts. "
                "Correct `files` or `import_name`, whichever it comes from"
            )
    if repeated := [name for name, count in counts.items() if count > 1]:
        raise ToolError(f"{min(repeated)}: twice in one wheel; expected one file. Give one of them another path")
    directories = {"", "/"}
    for name in sorted(counts):
        parent = posixpath.dirname(name)
        while parent not in directories:
            if parent in counts:
                raise ToolError(
                    f"{parent}: is a file, and a directory with {name}, in one wheel. Give one of them another path"
                )
            directories.add(parent)
            parent = posixpath.dirname(parent)


def write_wheel(file: BinaryIO, members: list[WheelMember], dist_info: str) -> Written:
    """Write the archive with its RECORD, and return its size and digest.

    Raises ToolError when two members have one name, or one lies in another or outside of site-packages.
    """
    record_name = f"{dist_info}/RECORD"
    _check_names([record_name, *(member.name for member in members)])
    ordered = sorted(members, key=lambda member: (member.name.startswith(dist_info + "/"), member.name))
    rows = [(member.name, member.sha256, member.data.size) for member in ordered]
    record = text_member(record_name, record_text(rows, record_name).encode())
    with Output(file) as output:
        archive = ZipArchive(output, archive_time())
        for member in [*ordered, record]:
            archive.add(member.name, member.mode, member.data)
        archive.close()
        return Written(output.size, output.sha256)
