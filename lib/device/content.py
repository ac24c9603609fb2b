"""The bytes of a bundle, in order, from the file as they stand or inflated on the way.

    for code, chunks in code_object_contents(file, device, bundle):
        for chunk in chunks: ...

The header of a compressed bundle is described in clang's documentation of the offload bundler ("Compression and
Decompression"). Version 1 does not say how long the bundle is: it ends where the compressed stream ends.

Reads forward only and keeps no more than a chunk, so that a bundle of gigabytes costs the time and not the memory.
"""

import hashlib
import struct
import zlib
from collections.abc import Generator, Iterator
from struct import Struct
from typing import BinaryIO, Final, Protocol

from lib.device.model import Bundle, CodeObject, Compression, DeviceCode, Method, device_errors
from lib.device.zstd import ZstdDecoder, ZstdError
from lib.elf.source import Source

COMPRESSED_MAGIC: Final = b"CCOB"
#: magic, version, method
_COMMON: Final = Struct("<4sHH")
#: What follows, by version: total size of the bundle (not in version 1), inflated size, digest.
_REST: Final = {1: Struct("<I8s"), 2: Struct("<II8s"), 3: Struct("<QQ8s")}
#: Bytes that are read, or inflated, at a time: few at first, because mostly it is the table that is wanted.
FIRST_CHUNK: Final = 1 << 12
CHUNK: Final = 1 << 18
#: More times its size no bundle inflates to: zlib cannot, and code objects never do with zstd. So a bundle of a few
#: bytes that says it holds terabytes is found out before they are made.
MAX_RATIO: Final = 2000
#: What the first bytes may inflate to without being suspected.
_SLACK: Final = 1 << 20


class _Decoder(Protocol):
    ended: bool

    def step(self, data: bytes, room: int) -> tuple[bytes, int]: ...


class _ZlibDecoder:
    """zlib's decoder in the manner of `ZstdDecoder`."""

    def __init__(self) -> None:
        self.ended = False
        self._stream = zlib.decompressobj()

    def step(self, data: bytes, room: int) -> tuple[bytes, int]:
        out = self._stream.decompress(data, room)
        self.ended = self._stream.eof
        # At the end of the stream, what was not used is in unused_data, and may be in unconsumed_tail as well.
        rest = self._stream.unused_data if self.ended else self._stream.unconsumed_tail
        return out, len(data) - len(rest)


def read_header(source: Source, offset: int, end: int) -> tuple[Compression, int | None]:
    """Read the header at file offset `offset`; also the size in bytes of the whole bundle, None if that is not said.

    Raises ElfError when the bundle reaches beyond the file offset `end`, or the numbers cannot be.
    """
    _require(source, offset, _COMMON.size, end)
    _, version, method = source.unpack(_COMMON, offset, "a compressed bundle's header")
    if version not in _REST:
        raise source.error(offset + 4, f"a compressed bundle of version {version}; known are 1, 2 and 3")
    if method not in [known.value for known in Method]:
        raise source.error(offset + 6, f"a bundle compressed by method {method}; known are 0 (zlib) and 1 (zstd)")
    header = header_size(version)
    _require(source, offset, header, end)
    *total, inflated, digest = source.unpack(_REST[version], offset + _COMMON.size, "a compressed bundle's header")
    size = total[0] if total else None
    if size is not None and not header < size <= end - offset:
        reason = f"a compressed bundle of {size} bytes; expected more than {header}, and {end - offset} at most"
        raise source.error(offset + 8, reason)
    stored = (size or end - offset) - header
    _check_ratio(source, offset + _COMMON.size, stored, inflated)
    return Compression(version, Method(method), header, inflated, digest), size


def header_size(version: int) -> int:
    """Return the size in bytes of the header of this version."""
    return _COMMON.size + _REST[version].size


def pack_header(source: Source, offset: int, compression: Compression, stored: int) -> bytes:
    """Make the header of a bundle of `stored` compressed bytes, instead of the one at file offset `offset`.

    Raises ElfError for more bytes than a header of the same version can say: up to version 2, 4 GiB.
    """
    total = [] if compression.version == 1 else [compression.header_size + stored]
    try:
        rest = _REST[compression.version].pack(*total, compression.inflated_size, compression.digest)
    except struct.error:
        reason = f"{compression.inflated_size} bytes, {stored} compressed: too many for version {compression.version}"
        raise source.error(offset, f"a bundle of {reason} of the header") from None
    return _COMMON.pack(COMPRESSED_MAGIC, compression.version, compression.method.value) + rest


def inflate(source: Source, offset: int, size: int, compression: Compression) -> Iterator[bytes]:
    """Yield the inflated bytes of the bundle of `size` bytes at file offset `offset`, some at a time.

    Raises ElfError when they cannot be inflated and, once the last was asked for, when they are not as many as the
    header says, do not have its digest, or do not take up the whole bundle.
    """
    taken = yield from _inflate(source, offset, offset + size, compression)
    if taken != size:
        raise source.error(offset + taken, f"{size - taken} bytes behind the end of the compressed stream")


def find_size(source: Source, offset: int, end: int, compression: Compression) -> int:
    """Return the size in bytes of a bundle that does not say it, by inflating it."""
    steps = _inflate(source, offset, end, compression)
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            return int(stop.value)


def _inflate(source: Source, offset: int, end: int, compression: Compression) -> Generator[bytes, None, int]:
    """As `inflate`; returns how many bytes of the file the bundle took, header included."""
    at = offset + compression.header_size
    digest = hashlib.md5(usedforsecurity=False)
    pending, count, chunk = b"", 0, FIRST_CHUNK
    try:
        decoder: _Decoder = _ZlibDecoder() if compression.method is Method.ZLIB else ZstdDecoder()
        while not decoder.ended:
            if not pending:
                pending = source.read(at, min(chunk, end - at), "compressed device code")
            out, used = decoder.step(pending, chunk)
            if not out and not used and not decoder.ended:
                raise source.error(at, "the compressed stream does not end inside its bundle")
            pending, at, count = pending[used:], at + used, count + len(out)
            if count > compression.inflated_size:
                raise source.error(
                    at, f"the bundle inflates to more than the {compression.inflated_size} bytes it says"
                )
            _check_ratio(source, at, at - offset, count)
            digest.update(out)
            chunk = min(2 * chunk, CHUNK)
            yield out
    except (ZstdError, zlib.error) as error:
        raise source.error(
            at, f"device code cannot be inflated with {compression.method.name.lower()}: {error}"
        ) from None
    if count != compression.inflated_size:
        raise source.error(at, f"the bundle inflates to {count} bytes, not to the {compression.inflated_size} it says")
    if not digest.digest().startswith(compression.digest):
        found = digest.digest()[:8].hex()
        raise source.error(at, f"the inflated bundle has the digest {found}, not {compression.digest.hex()}")
    return at - offset


def _check_ratio(source: Source, at: int, stored: int, inflated: int) -> None:
    if inflated > stored * MAX_RATIO + _SLACK:
        raise source.error(
            at, f"{stored} compressed bytes that inflate to {inflated}: more than {MAX_RATIO} times as many"
        )


def _require(source: Source, offset: int, size: int, end: int) -> None:
    if offset + size > end:
        raise source.error(offset, f"the header of a compressed bundle reaches beyond {end:#x}")


class Forward:
    """The bytes of a bundle from its beginning to its end: `read` goes on where the last one stopped."""

    def __init__(self, source: Source, offset: int, size: int, compression: Compression | None) -> None:
        self._source = source
        self._start = offset
        self._chunks = (
            _stored(source, offset, offset + size)
            if compression is None
            else inflate(source, offset, size, compression)
        )
        self._rest = b""
        self.position = 0
        """How many bytes were taken."""

    def chunks(self, size: int, what: str) -> Iterator[bytes]:
        """Yield the next `size` bytes, some at a time; `what` names them in errors."""
        while size:
            while not self._rest:
                following = next(self._chunks, None)
                if following is None:
                    raise self._source.error(self._start, f"the bundle ends inside {what}, {size} bytes too early")
                self._rest = following
            chunk, self._rest = self._rest[:size], self._rest[size:]
            size -= len(chunk)
            self.position += len(chunk)
            yield chunk

    def read(self, size: int, what: str) -> bytes:
        """Return the next `size` bytes, which the caller knows to be few."""
        return b"".join(self.chunks(size, what))

    def skip(self, size: int, what: str) -> None:
        """Leave out the next `size` bytes."""
        for _ in self.chunks(size, what):
            pass

    def finish(self) -> None:
        """Go through what is left, so that all there is to check of a compressed bundle is checked."""
        for chunk in self._chunks:
            self.position += len(chunk)


def _stored(source: Source, offset: int, end: int) -> Iterator[bytes]:
    size = FIRST_CHUNK
    while offset < end:
        chunk = source.read(offset, min(size, end - offset), "device code")
        offset += len(chunk)
        size = min(2 * size, CHUNK)
        yield chunk


def code_object_contents(
    file: BinaryIO, device: DeviceCode, bundle: Bundle
) -> Iterator[tuple[CodeObject, Iterator[bytes]]]:
    """Yield the code objects of a bundle by offset, each with its bytes; these are gone once the next is asked for.

    Raises DeviceError when the bytes are not there, or cannot be inflated. When all code objects were asked for, a
    compressed bundle was checked as a whole.
    """
    with device_errors():
        forward = Forward(Source(file, device.path), bundle.offset, bundle.size, bundle.compression)
        for code in sorted(bundle.code_objects, key=lambda code: (code.offset, code.size)):
            what = f"the code object {code.entry.text}"
            if code.size:
                forward.skip(code.offset - forward.position, what)
            yield code, _contents(forward, code.size, what)
            if code.size:
                forward.skip(code.end - forward.position, what)
        if bundle.compression is not None:
            forward.finish()


def _contents(forward: Forward, size: int, what: str) -> Iterator[bytes]:
    with device_errors():
        yield from forward.chunks(size, what)


def digests(file: BinaryIO, device: DeviceCode, bundle: Bundle) -> dict[CodeObject, str]:
    """Return the SHA-256 of each code object of a bundle, in hexadecimal. Raises DeviceError as the above."""
    found = {}
    for code, chunks in code_object_contents(file, device, bundle):
        sha256 = hashlib.sha256()
        for chunk in chunks:
            sha256.update(chunk)
        found[code] = sha256.hexdigest()
    return found
