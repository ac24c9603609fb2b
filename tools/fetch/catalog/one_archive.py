"""Unpacks the archive of one artifact and writes the files of its repository, for the rule `artifact_archive`.

    python3 -m tools.fetch.catalog.one_archive --archive FILE --artifact NAME --repository CANONICAL_NAME --output DIR
        [--size BYTES] [--sha256 HEX] [--zstd LIBRARY] [--max-members N] [--max-bytes N] [--max-ratio N]

writes into the output directory what `tools.fetch.catalog.catalog` does of a folder; the artifact lies unpacked in
`unpacked/`. With anything that is wrong with the archive, nothing is written. What the archive's digest has to be is
recorded with the artifact, for the bill of materials: of an archive that nothing locks, the unpacked files are what
counts, and wheels made of them are those that the folder gives.
"""

import argparse
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from tools.fetch.catalog.archive import Limits
from tools.fetch.catalog.catalog import report
from tools.fetch.catalog.names import CatalogError, parse_name
from tools.fetch.catalog.repository import write_repository
from tools.fetch.catalog.scan import scan
from tools.fetch.catalog.unpack import unpack

#: Where the artifact lies in the repository, and below which Bazel is to see no packages.
UNPACKED = "unpacked"


@dataclass(frozen=True)
class Arguments:
    """The command line; `--help` says what each argument is."""

    archive: Path
    artifact: str
    repository: str
    output: Path
    size: int | None
    sha256: str
    zstd: Path | None
    max_members: int
    max_bytes: int
    max_ratio: int


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
    defaults = Limits()
    parser = argparse.ArgumentParser(description="Unpacks one artifact and writes the files of its repository.")
    parser.add_argument("--archive", type=Path, required=True, help="the archive, {name}_{component}_{target}.tar.zst")
    parser.add_argument("--artifact", required=True, help="the artifact's name")
    parser.add_argument("--repository", required=True, help="canonical name of the repository")
    parser.add_argument("--output", type=Path, required=True, help="directory of the repository")
    parser.add_argument("--size", type=int, help="what the archive's size has to be, in bytes")
    parser.add_argument("--sha256", default="", help="what the archive's SHA-256 has to be, in hex")
    parser.add_argument("--zstd", type=Path, help="the decoder's shared library, for .tar.zst")
    parser.add_argument("--max-members", type=int, default=defaults.members, help="how many members it may have")
    parser.add_argument("--max-bytes", type=int, default=defaults.size, help="bytes that it may unpack to")
    parser.add_argument("--max-ratio", type=int, default=defaults.ratio, help="bytes that each of its bytes may become")
    args = Arguments(**vars(parser.parse_args(argv)))
    return report(lambda: write(args))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
