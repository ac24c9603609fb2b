"""Opens an archive of an artifact as a plain stream of tar blocks: forward only, counted, and within limits.

tar is read by `tarfile`, gzip and xz by their modules of the standard library. zstd, which Python has from 3.14 on, is
read by the decoder that zig builds. What a stream gives is the same for all three.
"""

import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from lib.device.zstd import ZstdDecoder, ZstdError
from tools.fetch.catalog.names import CatalogError, archive_suffix

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: Bytes of a tar block (POSIX pax, "ustar Interchange Format").
BLOCK: Final = 512
CHUNK: Final = 1 << 20
#: The largest window of a zstd frame is 2^31 bytes: what `zstd --long=31` makes, and all that the decoder can take.
WINDOW_LOG: Final = 31
_CORRUPT = (EOFError, OSError, ZstdError, lzma.LZMAError, zlib.error)


@dataclass(frozen=True)
class Limits:
    """Limits of an archive's size and contents. An archive beyond them is refused before more of it is read."""

    members: int = 100_000
    #: Bytes that come out.
    size: int = 128 << 30
    #: Bytes that come out for each that goes in, from `ratio_from` bytes on: artifacts have a ratio of 2 to 20.
    ratio: int = 1000
    ratio_from: int = 1 << 30
    #: Bytes of one header with its extensions: long names, that is. `tarfile` reads these at once.
    header: int = CHUNK


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


class ArchiveStream(io.BufferedIOBase):
    """The tar blocks of an archive, for `tarfile`, which may seek forward."""

    def __init__(self, file: io.FileIO, plain: BinaryIO, limits: Limits) -> None:
        self._file = file
        self._name = file.name
        self._plain = plain
        self._limits = limits
        self._position = 0
        #: The last bytes read: at the end of the members, the block that ended them.
        self.last = b""

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def seekable(self) -> bool:
        """Return that it can be sought: forward."""
        return True

    def tell(self) -> int:
        """Return how many bytes came out."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Skip to an offset from the start. Raises CatalogError if it lies behind, as damaged sizes make it."""
        if whence != io.SEEK_SET or offset < self._position:
            raise CatalogError(f"{self._name}: damaged: a member's size leads back in the archive; replace it")
        while offset > self._position and self.read(min(CHUNK, offset - self._position)):
            pass
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        """Read `size` bytes, fewer only at the end. Raises CatalogError if the limits or the compression forbid it."""
        if size is None or not 0 <= size <= self._limits.header:
            raise CatalogError(
                f"{self._name}: damaged: a header of {size} bytes; expected at most {self._limits.header}. Replace it"
            )
        try:
            self.last = self._plain.read(size)
        except _CORRUPT as error:
            raise CatalogError(
                f"{self._name}: truncated or corrupted after {self._position} bytes of content ({error}); replace it"
            ) from None
        self._position += len(self.last)
        self._check_limits()
        return self.last

    def finish(self) -> None:
        """Read to the end, so that every checksum is compared. Raises CatalogError unless only zeros are left."""
        while block := self.read(CHUNK):
            if block.strip(b"\0"):
                raise CatalogError(
                    f"{self._name}: there is more after the end of the archive; expected one archive. Pack it anew"
                )

    def _check_limits(self) -> None:
        size, read, limits = self._position, self._file.tell(), self._limits
        if size > limits.size:
            raise CatalogError(
                f"{self._name}: unpacks to more than {limits.size} bytes, {self._remedy('ARTIFACT_ARCHIVE_MAX_BYTES')}"
            )
        if size > limits.ratio_from and size > limits.ratio * read:
            raise CatalogError(
                f"{self._name}: {read} bytes of it unpack to {size}, more than {limits.ratio} times "
                f"as many, {self._remedy('ARTIFACT_ARCHIVE_MAX_RATIO')}"
            )

    @staticmethod
    def _remedy(variable: str) -> str:
        return f"which is the limit: no artifact should need that. If this one does, set --repo_env={variable}="


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


@contextmanager
def open_archive(path: Path, limits: Limits, zstd: Path | None = None) -> Iterator[ArchiveStream]:
    """Open an archive; `zstd` is the decoder's library if it is not beside its module.

    What is wrong with it is raised when it is read, as CatalogError.
    """
    try:
        file = io.FileIO(str(path))
    except OSError as error:
        raise CatalogError(f"{path}: cannot be read: {error.strerror}") from None
    with file, _plain(file, zstd) as plain:
        yield ArchiveStream(file, plain, limits)
