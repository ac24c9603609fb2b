"""Runs: deflated bytes that are ready to be laid into an archive.

A run knows the size and CRC-32 of what it inflates to, so several can be joined to one member without reading their
bytes: CRC-32 (ISO 3309, as zip uses it) is linear over GF(2), and appending `n` zero bits to a message multiplies its
remainder by x^n modulo the polynomial. zlib has this as crc32_combine, which Python's zlib module does not offer.
"""

import functools
import hashlib
import struct
import tarfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from lib.common.program import archive_time
from lib.deflate.library import BLOCK_BYTES, FINAL_BLOCK, SMALLEST, InflateError, blocks, crc32, deflate_block, inflate
from lib.wheel.output_file import Output

#: A gzip header (RFC 1952, 2.3.1): deflated, and nothing about when, where and on what it was made.
GZIP_HEADER = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
#: The polynomial, bits reversed, as zlib has it.
POLYNOMIAL = 0xEDB88320


def _multiply(a: int, b: int) -> int:
    """Return a times b modulo the polynomial; bit 31 is the coefficient of x^0."""
    product = 0
    for bit in range(31, -1, -1):
        if a >> bit & 1:
            product ^= b
        b = b >> 1 ^ (POLYNOMIAL if b & 1 else 0)
    return product


@functools.cache
def _square(number: int) -> int:
    """Return x squared that many times, modulo the polynomial."""
    return _multiply(_square(number - 1), _square(number - 1)) if number else 1 << 30


@functools.cache
def _power_of_x(bits: int) -> int:
    """Return x to the power of `bits` modulo the polynomial; kept, because headers and paddings have few sizes."""
    result = 1 << 31
    for number in range(bits.bit_length()):
        if bits >> number & 1:
            result = _multiply(result, _square(number))
    return result


def combine(first: int, second: int, second_size: int) -> int:
    """Return the CRC-32 of the joined string; `second_size` is the second part's length in bytes."""
    return _multiply(_power_of_x(8 * second_size), first) ^ second if first else second


@dataclass(frozen=True)
class Run:
    """Joined deflate blocks without a final one."""

    #: Length of the deflated bytes; size and CRC-32 of the inflated ones.
    length: int
    size: int
    crc32: int
    #: The deflated bytes themselves, or the segment file and the offset at which they lie.
    data: bytes = b""
    segment: str = ""
    offset: int = 0

    def write_to(self, output: Output) -> None:
        """Append the deflated bytes to a file."""
        if self.segment:
            output.copy(self.segment, self.offset, self.length)
        else:
            output.write(self.data)

    def chunks(self) -> Iterator[bytes]:
        """Yield the deflated bytes."""
        if not self.segment:
            yield self.data
            return
        left = self.length
        with open(self.segment, "rb") as file:
            file.seek(self.offset)
            while left:
                chunk = file.read(min(left, BLOCK_BYTES))
                if not chunk:
                    expected = f"expected {self.length} bytes at offset {self.offset}"
                    raise EOFError(f"{self.segment}: {expected}; the file ends {left} bytes earlier")
                left -= len(chunk)
                yield chunk


def small_run(data: bytes) -> Run:
    """Deflates a few bytes that only `link` knows: metadata, archive headers."""
    deflated = b"".join(deflate_block(block, SMALLEST) for block in blocks([data]))
    return Run(len(deflated), len(data), crc32(data), data=deflated)


def header_run(name: str, mode: int, type_: bytes, size: int = 0, link: str = "", *, is_gnu: bool = False) -> Run:
    """Return the header of a tar member, in pax or GNU format; `type_` is a constant of `tarfile`."""
    member = tarfile.TarInfo(name)
    member.mode, member.type, member.size, member.linkname, member.mtime = mode, type_, size, link, archive_time()
    return small_run(member.tobuf(tarfile.GNU_FORMAT if is_gnu else tarfile.PAX_FORMAT, "utf-8", "strict"))


def padding_run(size: int) -> Run:
    """Return the zeros that follow a tar member of `size` bytes."""
    return small_run(bytes(-size % tarfile.BLOCKSIZE))


def end_run() -> Run:
    """Return the two blocks of zeros that end a tar archive."""
    return small_run(bytes(2 * tarfile.BLOCKSIZE))


@dataclass(frozen=True)
class Joined:
    """Runs that follow each other, closed by a final block: one zip member's data."""

    runs: tuple[Run, ...]
    length: int
    size: int
    crc32: int

    def write_to(self, output: Output) -> None:
        """Append the deflated bytes, with the final block, to a file."""
        for run in self.runs:
            run.write_to(output)
        output.write(FINAL_BLOCK)

    def chunks(self) -> Iterator[bytes]:
        """Yield the deflated bytes, with the final block."""
        for run in self.runs:
            yield from run.chunks()
        yield FINAL_BLOCK

    def gzip_trailer(self) -> bytes:
        """Return the end of a gzip member of this: CRC-32 and size, modulo 2^32, of what it inflates to."""
        return struct.pack("<2L", self.crc32, self.size & 0xFFFFFFFF)

    def inflated(self) -> Iterator[bytes]:
        """Yield the bytes that the member inflates to, in bounded pieces. Raises InflateError if it is damaged."""
        return map(bytes, inflate(self.chunks(), self.length, self.size))


def join(runs: Iterable[Run]) -> Joined:
    """Join runs; sizes add up and CRCs combine."""
    ordered = tuple(runs)
    crc = 0
    for run in ordered:
        crc = combine(crc, run.crc32, run.size)
    length = sum(run.length for run in ordered) + len(FINAL_BLOCK)
    return Joined(ordered, length, sum(run.size for run in ordered), crc)


def inflated_sha256(data: Joined, chunks: Iterable[bytes] | None = None) -> str:
    """Return the SHA-256, in hex, of what the runs inflate to; a second thread digests while this one inflates.

    `chunks` are the deflated bytes, if the caller reads them anyway. Raises InflateError if that is not what the runs
    say.
    """
    sha256, size, crc = hashlib.sha256(), 0, 0
    with ThreadPoolExecutor(1) as digester:
        digested = digester.submit(sha256.update, b"")
        for piece in inflate(data.chunks() if chunks is None else chunks, data.length, data.size):
            digested.result()
            digested = digester.submit(sha256.update, piece)
            size, crc = size + len(piece), crc32(piece, crc)
    if (size, crc) != (data.size, data.crc32):
        raise InflateError(
            f"inflates to {size} bytes with CRC-32 {crc:08x}; expected {data.size} bytes with {data.crc32:08x}"
        )
    return sha256.hexdigest()
