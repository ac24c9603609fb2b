"""Unpacks the archive of one artifact and writes the files of its repository, for the rule `artifact_archive`.

The artifact lies unpacked in `unpacked/` of the output directory. The machine's `tar` unpacks it: no member comes to
lie outside of the folder, or takes the place of another. The scan of the folder finds what else is wrong. Nothing is
left of an archive that is refused.

The digest that a lock file gives the archive, which Bazel has compared, is recorded with the artifact, for the bill of
materials: of an archive that nothing locks, the unpacked files are what counts, and wheels made of them are those that
the folder gives.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lib.common.arguments import read_arguments
from tools.fetch.catalog.archive import BLOCK, read_archive
from tools.fetch.catalog.catalog import report
from tools.fetch.catalog.names import CatalogError, parse_name
from tools.fetch.catalog.repository import write_repository
from tools.fetch.catalog.scan import scan

#: Where the artifact lies in the repository, and below which Bazel is to see no packages.
UNPACKED = "unpacked"
#: Modes stay as they are: what a mode may be, the scan decides. A second member of one name is an error.
_TAR = ("tar", "--extract", "--file=-", "--keep-old-files", "--no-same-owner", "--same-permissions")
#: Lines of tar's messages that an error has, and how those begin that say nothing.
_LINES, _EMPTY = 3, ("Exiting with", "Removing leading")


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
