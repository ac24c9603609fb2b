"""The bytes of a bundle, in order, from the file as they stand or inflated on the way.

    for code, chunks in code_object_contents(file, device, bundle):
        for chunk in chunks: ...

Reads forward only and keeps no more than a chunk, so that a bundle of gigabytes costs the time and not the memory.
"""

import hashlib
from collections.abc import Iterator
from typing import BinaryIO

from lib.device.inflate import CHUNK, FIRST_CHUNK, inflate
from lib.device.model import Bundle, CodeObject, Compression, DeviceCode, device_errors
from lib.elf.source import Source


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
