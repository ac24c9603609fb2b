"""Unpacks the archive of one artifact and writes the files of its repository, for the rule `artifact_archive`.

The artifact lies unpacked in `unpacked/` of the output directory. The machine's `tar` unpacks it: no member comes to
lie outside of the folder, or takes the place of another. gzip and xz are read by modules of the standard library; zstd,
which Python has from 3.14 on, by the decoder that zig builds. The scan of the folder finds what else is wrong. Nothing
is left of an archive that is refused.

The digest that a lock file gives the archive, which Bazel has compared, is recorded with the artifact, for the bill of
materials: of an archive that nothing locks, the unpacked files are what counts, and wheels made of them are those that
the folder gives.
"""

import gzip
import io
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from lib.common.arguments import read_arguments
from lib.device.zstd import ZstdDecoder, ZstdError
from tools.fetch.catalog.catalog import report
from tools.fetch.catalog.names import ARCHIVES, CatalogError, archive_suffix, parse_name
from tools.fetch.catalog.repository import write_repository
from tools.fetch.catalog.scan import scan

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: Where the artifact lies in the repository, and below which Bazel is to see no packages.
UNPACKED = "unpacked"
#: Modes stay as they are: what a mode may be, the scan decides. A second member of one name is an error.
_TAR = ("tar", "--extract", "--file=-", "--keep-old-files", "--no-same-owner", "--same-permissions")
#: Lines of tar's messages that an error has, and how those begin that say nothing.
_LINES, _EMPTY = 3, ("Exiting with", "Removing leading")

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
        case ".tar.zst":
            try:
                decoder = ZstdDecoder(WINDOW_LOG, zstd)
            except (ZstdError, OSError) as error:
                raise CatalogError(f"{file.name}: zstd's decoder cannot be loaded: {error}") from None
            return cast("BinaryIO", io.BufferedReader(ZstdReader(raw, decoder), CHUNK))
    raise CatalogError(f"{file.name}: expected an archive whose name ends in {', '.join(ARCHIVES)}. Rename it")


def read_archive(path: Path, zstd: Path | None = None) -> Iterator[bytes]:
    """Yield the bytes of a tar archive; `zstd` is the decoder's library if it is not beside its module.

    Raises CatalogError for a file that cannot be read, is cut or damaged, or has another suffix than `ARCHIVES`.
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


def unpack(archive: Path, folder: Path, zstd: Path | None = None) -> None:
    """Unpack an archive into a folder that is not there yet; `zstd` is the decoder's library if it is elsewhere.

    Raises CatalogError if the archive is damaged, or tar refuses it.
    """
    folder.mkdir(parents=True)
    command = [*_TAR, f"--directory={folder}"]
    with tempfile.TemporaryFile() as messages:
        try:
            tar = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=messages, env={**os.environ, "LC_ALL": "C"})
        except OSError as error:
            raise CatalogError(f"{archive}: the program tar cannot be run: {error.strerror}. Install it") from None
        with tar:
            last = _feed(tar, read_archive(archive, zstd))
        messages.seek(0)
        lines = [line.removeprefix("tar: ") for line in messages.read().decode("utf-8", "replace").splitlines()]
    if tar.returncode:
        said = [line for line in lines if not line.startswith(_EMPTY)]
        reason = "; ".join(said[:_LINES]) or f"exit code {tar.returncode}"
        raise CatalogError(f"{archive}: tar refuses it: {reason}. Replace it")
    if last.strip(b"\0") or not last:  # tar takes the end of the file for the end, too.
        raise CatalogError(f"{archive}: truncated: the tar archive in it has no end; replace it")


def _feed(tar: "subprocess.Popen[bytes]", chunks: Iterable[bytes]) -> bytes:
    """Give tar an archive; return its last block. Raises CatalogError for a damaged archive, and then ends tar."""
    assert tar.stdin
    last = b""
    try:
        for chunk in chunks:
            last = (last + chunk)[-BLOCK:]
            tar.stdin.write(chunk)
    except BrokenPipeError:  # tar has failed, and says why.
        pass
    except BaseException:
        tar.kill()
        raise
    finally:
        with suppress(BrokenPipeError):
            tar.stdin.close()
    return last


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule."""

    archive: Path  #: {name}_{component}_{target}.tar.zst, or of another suffix.
    artifact: str  #: The artifact's name.
    repository: str  #: Canonical name of the repository.
    output: Path  #: Directory of the repository.
    zstd: Path | None  #: The decoder's shared library, for .tar.zst.
    sha256: str = ""  #: The archive's SHA-256, in hex, if it is locked.


def write(args: Arguments) -> None:
    """Unpack the archive; write the repository. Raises CatalogError, whose message begins with the archive's path."""
    folder = args.output / UNPACKED / args.artifact
    try:
        unpack(args.archive, folder, args.zstd)
        artifact = scan(folder, parse_name(args.artifact, args.archive, "an archive"), args.repository)
        write_repository([artifact], args.output, what=args.archive.name, archive_sha256=args.sha256)
    except BaseException as error:
        shutil.rmtree(args.output / UNPACKED, ignore_errors=True)
        text = str(error).replace(f"{folder}/", "").replace(f"{folder}: ", "")
        if isinstance(error, CatalogError) and not text.startswith(str(args.archive)):
            raise CatalogError(f"{args.archive}: {text}") from None
        raise
    (args.output / ".bazelignore").write_text(UNPACKED + "\n", encoding="utf-8")


def main(argv: list[str]) -> int:
    """Unpack and scan; return 1, with one line on standard error when the archive cannot be used."""
    return report(lambda: write(read_arguments(Arguments, argv)))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
