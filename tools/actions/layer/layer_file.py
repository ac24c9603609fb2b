"""Writes a layer: a tar archive in gzip members (RFC 1952) that are joined from runs. Nothing is compressed again.

What is written is inflated in the same pass: a layer's diffID is the digest of the inflated archive.

The archive is in GNU format, which dpkg, tar and every container engine read. The framing never changes: an engine
knows a layer by its inflated bytes, and would keep the compressed bytes that it has.
"""

import struct
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lib.common.paths import directories_above
from lib.deflate.blocks import FINAL_BLOCK
from lib.wheel.deflated_run import Joined, Run, inflated_sha256, join
from lib.wheel.output_file import Output
from tools.actions.layer.installed_wheel import InstalledFile
from tools.actions.link.tar_stream import end_run, header_run, padding_run

#: Deflated, no flags, no time, no level, an unknown system (RFC 1952, 2.3.1).
GZIP_HEADER = bytes.fromhex("1f8b08000000000000ff")
#: Bytes of a member's CRC-32 and size.
TRAILER_BYTES = 8


@dataclass(frozen=True)
class Layer:
    """What the file of a layer consists of."""

    #: Each becomes a gzip member.
    members: tuple[Joined, ...]
    #: Bytes behind the members, a gzip member themselves if there are any.
    footer: bytes = b""
    #: Annotations of the layer in the image's manifest.
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def archive(self) -> Joined:
        """The archive, as one stream."""
        return join(run for member in self.members for run in member.runs)


@dataclass(frozen=True)
class ArchiveMember:
    """A member of the archive."""

    #: Without `/` at the beginning.
    path: str
    header: Run
    #: None for a directory.
    file: InstalledFile | None = None


def archive_members(files: Iterable[InstalledFile]) -> Iterator[ArchiveMember]:
    """Yield the members: each directory before what is in it, all sorted."""
    by_path = {file.path: file for file in files}
    directories = {parent for path in by_path for parent in directories_above(path)}
    directories |= {path for path, file in by_path.items() if file.type == tarfile.DIRTYPE}
    for path in sorted(by_path.keys() | directories):
        if path in directories:
            yield ArchiveMember(path, header_run(path, 0o755, tarfile.DIRTYPE, is_gnu=True))
        else:
            file = by_path[path]
            header = header_run(path, file.mode, file.type, file.run.size, file.link, is_gnu=True)
            yield ArchiveMember(path, header, file)


def archive_runs(files: Iterable[InstalledFile]) -> Iterator[Run]:
    """Yield the runs of the archive, without padding at the end."""
    for member in archive_members(files):
        yield member.header
        if member.file:
            yield member.file.run
            yield padding_run(member.file.run.size)
    yield end_run()


def gzip_layer(files: Iterable[InstalledFile]) -> Layer:
    """Return a layer of one gzip member."""
    return Layer((join(archive_runs(files)),))


def member_bytes(data: Joined) -> int:
    """Return the size of a gzip member, in bytes."""
    return len(GZIP_HEADER) + data.length + TRAILER_BYTES


def trailer(data: Joined) -> bytes:
    """Return the end of a gzip member: CRC-32 and size, modulo 2^32, of what it inflates to."""
    return struct.pack("<2L", data.crc32, data.size & 0xFFFFFFFF)


@dataclass(frozen=True)
class WrittenLayer:
    """The file of a layer: its size in bytes, its SHA-256, and the SHA-256 of the inflated archive, both in hex."""

    size: int
    sha256: str
    diff_id: str


def write_layer(layer: Layer, path: str) -> WrittenLayer:
    """Write the file, and say what was written. Raises InflateError if a run is damaged."""
    with Path(path).open("wb") as file, Output(file) as output:
        diff_id = inflated_sha256(layer.archive, _written(layer, output))
        return WrittenLayer(output.size, output.sha256, diff_id)


def _written(layer: Layer, output: Output) -> Iterator[bytes]:
    """Write the file, and yield of what is written the stream that inflates to the archive."""
    for member in layer.members:
        output.write(GZIP_HEADER)
        for run in member.runs:
            for chunk in run.chunks():
                output.write(chunk)
                yield chunk
        output.write(FINAL_BLOCK + trailer(member))
    output.write(layer.footer)
    yield FINAL_BLOCK
