"""Opens an archive of an artifact as a plain stream: the bytes of the tar archive in it.

gzip and xz are read by their modules of the standard library. zstd, which Python has from 3.14 on, is read by the
decoder that zig builds. What a stream gives is the same for all three.
"""

import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from lib.device.zstd import ZstdDecoder, ZstdError
from tools.fetch.catalog.names import CatalogError, archive_suffix

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: Bytes of a tar block (POSIX pax, "ustar Interchange Format").
BLOCK: Final = 512
#: Bytes that are read at a time.
CHUNK: Final = 1 << 20
#: The largest window of a zstd frame is 2^31 bytes: what `zstd --long=31` makes, and all that the decoder can take.
WINDOW_LOG: Final = 31
_CORRUPT = (EOFError, OSError, ZstdError, lzma.LZMAError, zlib.error)


class ZstdReader(io.RawIOBase):
    """File with the decoded content of consecutive zstd frames."""

    def __init__(self, source: BinaryIO, decoder: ZstdDecoder) -> None:
        self._source = source
        self._decoder = decoder
        self._input = b""

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Decode up to the size of the buffer; return how many bytes it were. Raises ZstdError, EOFError."""
        view = memoryview(buffer).cast("B")
        while True:
            # Between two frames the decoder has nothing to give, and would begin the next one if it were asked.
            if not self._decoder.ended or self._input:
                given, used = self._decoder.step(self._input, len(view))
                self._input = self._input[used:]
                if given:
                    view[: len(given)] = given
                    return len(given)
                if used:
                    continue
            chunk = self._source.read(CHUNK // 8)
            if not chunk:
                if self._decoder.ended:
                    return 0
                raise EOFError("it ends inside a zstd frame")
            self._input += chunk


def _plain(file: io.FileIO, zstd: Path | None) -> BinaryIO:
    """Return what a file is compressed from, by what its name ends with."""
    raw = cast("BinaryIO", file)
    match archive_suffix(file.name):
        case ".tar.gz":
            return cast("BinaryIO", gzip.GzipFile(fileobj=raw))
        case ".tar.xz":
            return cast("BinaryIO", lzma.LZMAFile(raw))
    try:
        decoder = ZstdDecoder(WINDOW_LOG, zstd)
    except (ZstdError, OSError) as error:
        raise CatalogError(f"{file.name}: zstd's decoder cannot be loaded: {error}") from None
    return cast("BinaryIO", io.BufferedReader(ZstdReader(raw, decoder), CHUNK))


def read_archive(path: Path, zstd: Path | None = None) -> Iterator[bytes]:
    """Yield the bytes of a tar archive; `zstd` is the decoder's library if it is not beside its module.

    Raises CatalogError for a file that cannot be read, is cut or damaged.
    """
    try:
        file = io.FileIO(str(path))
    except OSError as error:
        raise CatalogError(f"{path}: cannot be read: {error.strerror}") from None
    done = 0
    with file, _plain(file, zstd) as plain:
        while True:
            try:
                chunk = plain.read(CHUNK)
            except _CORRUPT as error:
                reason = f"truncated or corrupted after {done} bytes of content ({error}); replace it"
                raise CatalogError(f"{path}: {reason}") from None
            if not chunk:
                return
            done += len(chunk)
            yield chunk
