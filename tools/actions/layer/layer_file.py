"""Writes a layer: one gzip member (RFC 1952) that is joined from runs, so that nothing is compressed again.

The member is a tar archive in GNU format, which dpkg, tar and every container engine read. This framing never changes:
an engine knows a layer by its inflated bytes, and would keep the compressed bytes that it has.
"""

import hashlib
import struct
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.actions.layer.installed_wheel import InstalledFile, parents
from tools.actions.link.tar_stream import end_run, header_run, padding_run
from tools.lib.common.program import ToolError
from tools.lib.deflate.library import crc32
from tools.lib.wheel.deflated_run import Joined, Run, join
from tools.lib.wheel.output_file import Output
from tools.lib.wheel.wheel_writer import Written

#: Deflated, no flags, no time, no level, an unknown system (RFC 1952, 2.3.1).
GZIP_HEADER = bytes.fromhex("1f8b08000000000000ff")


def archive_runs(files: Iterable[InstalledFile]) -> Iterator[Run]:
    """Yield the runs of the archive: each directory before what is in it, all sorted, without padding at the end."""
    by_path = {file.path: file for file in files}
    directories = {parent for path in by_path for parent in parents(path)}
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


def write_gzip(data: Joined, path: str) -> Written:
    """Write the member; return the file's size and SHA-256."""
    with Path(path).open("wb") as file, Output(file) as output:
        output.write(GZIP_HEADER)
        data.write_to(output)
        output.write(struct.pack("<2L", data.crc32, data.size & 0xFFFFFFFF))
        return Written(output.size, output.sha256)


def inflated_sha256(data: Joined) -> str:
    """Return the SHA-256, in hex, of what the runs inflate to; a second thread digests while this one inflates.

    Raises ToolError if that is not what the runs say.
    """
    sha256, size, crc = hashlib.sha256(), 0, 0
    with ThreadPoolExecutor(1) as digester:
        digested = digester.submit(sha256.update, b"")
        try:
            for chunk in data.inflated():
                digested.result()
                digested = digester.submit(sha256.update, chunk)
                size, crc = size + len(chunk), crc32(chunk, crc)
        except zlib.error as error:
            raise ToolError(f"byte {size} of the layer: does not inflate: {error}. Build the wheel again") from None
    if (size, crc) != (data.size, data.crc32):
        raise ToolError(
            f"the layer inflates to {size} bytes with CRC-32 {crc:08x}; expected {data.size} bytes with "
            f"{data.crc32:08x}. Build the wheel again"
        )
    return sha256.hexdigest()


def layer_data(files: Iterable[InstalledFile]) -> Joined:
    """Return the archive of the files as one deflated stream."""
    return join(archive_runs(files))
