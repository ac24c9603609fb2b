"""Writes a layer: a tar archive in one gzip member (RFC 1952) that is joined from runs. Nothing is compressed again.

What is written is inflated in the same pass: a layer's diffID is the digest of the inflated archive.

The archive is in GNU format, which dpkg, tar and every container engine read. The framing never changes: an engine
knows a layer by its inflated bytes, and would keep the compressed bytes that it has.
"""

import struct
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lib.common.paths import directories_above
from lib.deflate.library import FINAL_BLOCK
from lib.wheel.deflated_run import Joined, Run, inflated_sha256, join
from lib.wheel.output_file import Output
from tools.actions.layer.installed_wheel import InstalledFile
from tools.actions.link.tar_stream import end_run, header_run, padding_run

#: Deflated, no flags, no time, no level, an unknown system (RFC 1952, 2.3.1).
GZIP_HEADER = bytes.fromhex("1f8b08000000000000ff")


def archive_runs(files: Iterable[InstalledFile]) -> Iterator[Run]:
    """Yield the runs of the archive, without padding at the end: each directory before what is in it, all sorted."""
    by_path = {file.path: file for file in files}
    directories = {parent for path in by_path for parent in directories_above(path)}
    directories |= {path for path, file in by_path.items() if file.type == tarfile.DIRTYPE}
    for path in sorted(by_path.keys() | directories):
        if path in directories:
            yield header_run(path, 0o755, tarfile.DIRTYPE, is_gnu=True)
        else:
            file = by_path[path]
            yield header_run(path, file.mode, file.type, file.run.size, file.link, is_gnu=True)
            yield file.run
            yield padding_run(file.run.size)
    yield end_run()


def trailer(data: Joined) -> bytes:
    """Return the end of the gzip member: CRC-32 and size, modulo 2^32, of what it inflates to."""
    return struct.pack("<2L", data.crc32, data.size & 0xFFFFFFFF)


@dataclass(frozen=True)
class WrittenLayer:
    """The file of a layer: its size in bytes, its SHA-256, and the SHA-256 of the inflated archive, both in hex."""

    size: int
    sha256: str
    diff_id: str


def write_layer(files: Iterable[InstalledFile], path: str) -> WrittenLayer:
    """Write the file, and say what was written. Raises InflateError if a run is damaged."""
    archive = join(archive_runs(files))
    with Path(path).open("wb") as file, Output(file) as output:
        diff_id = inflated_sha256(archive, _written(archive, output))
        return WrittenLayer(output.size, output.sha256, diff_id)


def _written(archive: Joined, output: Output) -> Iterator[bytes]:
    """Write the file, and yield of what is written the stream that inflates to the archive."""
    output.write(GZIP_HEADER)
    for run in archive.runs:
        for chunk in run.chunks():
            output.write(chunk)
            yield chunk
    output.write(FINAL_BLOCK + trailer(archive))
    yield FINAL_BLOCK
