"""Unpacks the archive of one artifact and writes the files of its repository, for the rule `artifact_archive`.

It writes into the output directory what `tools.fetch.catalog.catalog` does of a folder; the artifact lies unpacked in
`unpacked/`. With anything that is wrong with the archive, nothing is written. What the archive's digest has to be is
recorded with the artifact, for the bill of materials: of an archive that nothing locks, the unpacked files are what
counts, and wheels made of them are those that the folder gives.
"""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from lib.common.arguments import read_arguments
from tools.fetch.catalog.archive import Limits
from tools.fetch.catalog.catalog import report
from tools.fetch.catalog.names import CatalogError, parse_name
from tools.fetch.catalog.repository import write_repository
from tools.fetch.catalog.scan import scan
from tools.fetch.catalog.unpack import unpack

#: Where the artifact lies in the repository, and below which Bazel is to see no packages.
UNPACKED = "unpacked"
_LIMITS = Limits()


@dataclass(frozen=True)
class Arguments:
    """What the rule says."""

    archive: Path  #: {name}_{component}_{target}.tar.zst, or of another suffix.
    artifact: str  #: The artifact's name.
    repository: str  #: Canonical name of the repository.
    output: Path  #: Directory of the repository.
    size: int | None  #: What the archive's size has to be, in bytes.
    zstd: Path | None  #: The decoder's shared library, for .tar.zst.
    sha256: str = ""  #: What the archive's SHA-256 has to be, in hex; empty: anything.
    max_members: int = _LIMITS.members  #: How many members the archive may have.
    max_bytes: int = _LIMITS.size  #: How many bytes it may unpack to.
    max_ratio: int = _LIMITS.ratio  #: How many bytes each of its bytes may become.


def write(args: Arguments) -> None:
    """Unpack the archive; write the repository."""
    archive: Path = args.archive
    try:
        size = archive.stat().st_size
    except OSError as error:
        raise CatalogError(f"{archive}: cannot be read: {error.strerror}") from None
    if args.size is not None and size != args.size:
        raise CatalogError(f"{archive}: has {size} bytes; expected {args.size}, as the lock file says. Lock it again")
    limits = Limits(args.max_members, args.max_bytes, args.max_ratio)
    folder = args.output / UNPACKED / args.artifact
    try:
        digest = unpack(archive, folder, limits, args.zstd)
        if args.sha256 not in ("", digest):
            raise CatalogError(
                f"has the SHA-256 {digest}; expected {args.sha256}, as the lock file says. Fetch it again"
            )
        artifact = scan(folder, parse_name(args.artifact, archive, "an archive"), args.repository)
        write_repository([artifact], args.output, what=archive.name, archive_sha256=args.sha256)
    except BaseException as error:
        shutil.rmtree(args.output / UNPACKED, ignore_errors=True)
        if isinstance(error, CatalogError) and not str(error).startswith(str(archive)):
            raise CatalogError(f"{archive}: {error}") from None
        raise
    (args.output / ".bazelignore").write_text(UNPACKED + "\n", encoding="utf-8")


def main(argv: list[str]) -> int:
    """Unpack and scan; return 1, with one line on standard error when the archive cannot be used."""
    return report(lambda: write(read_arguments(Arguments, argv)))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
