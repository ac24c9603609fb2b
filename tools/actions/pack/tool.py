"""Packs the entries of one unit: patches and slices ELF files in flight, deflates, digests.

    pack --label TARGET --artifact NAME --manifest FILE --launcher PROGRAM
         --compression fast|balanced|small --threads N [--verbose]
         {--edits FILE --segment OUT --index OUT}… FILE=PATH…

Bulk bytes are read here and nowhere else. What an entry becomes is in the edit file; the
result is a segment and its index (`lib.pack.segment`). Packages for different GPUs that
are made from the same unit are packed together, each with its own three files: what they
have in common is deflated once.
"""

from dataclasses import dataclass
from pathlib import Path

from lib.common.manifest import located_sources
from lib.common.program import (
    Stopwatch,
    ToolError,
    argument_parser,
    read_document,
    report_errors,
    usable_cores,
    write_document,
)
from lib.pack.segment import LEVELS, SegmentIndex
from lib.plan.edits import Edits


@dataclass(frozen=True)
class Arguments:
    """The command line; `--help` says what each argument is."""

    label: str
    edits: list[str]
    artifact: str
    manifest: str
    launcher: str | None
    compression: str
    threads: int
    verbose: bool
    segment: list[str]
    index: list[str]
    files: list[str]


def pack(args: Arguments) -> None:
    """Write the segments and their indexes."""
    stopwatch, segments = Stopwatch(verbose=args.verbose), [Path(path) for path in args.segment]
    edits = [Edits.from_document(read_document(path)) for path in args.edits]
    if not len(edits) == len(segments) == len(args.index):
        raise ToolError(
            f"{len(edits)} --edits, {len(segments)} --segment, {len(args.index)} --index: expected as many of each"
        )
    if any(one.entries or one.digest for one in edits):
        # Of the units of a devel package, most have nothing to pack: what packs takes longer to import than they to do.
        from lib.pack.packer import Work, pack_unit

        located = located_sources(args.manifest, args.artifact, args.files)
        work = [Work(*one) for one in zip(edits, segments, strict=True)]
        indexes = pack_unit(work, located, args.launcher, LEVELS[args.compression], usable_cores(args.threads))
    else:
        for segment in segments:
            segment.touch()
        indexes = [SegmentIndex((), {})] * len(segments)
    for path, index in zip(args.index, indexes, strict=True):
        write_document(path, index.to_document())
    entries = [entry for index in indexes for entry in index.entries]
    written = sum(segment.stat().st_size for segment in segments)
    stopwatch.report(f"packed {len(entries)} files of {args.artifact}", sum(entry.size for entry in entries), written)


def main(argv: list[str]) -> int:
    """Pack what the edit files name and write the segments and their indexes."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    parser.add_argument("--edits", action="append", required=True, help="the unit's edit file, from a package's plan")
    parser.add_argument("--artifact", required=True, help="name of the artifact")
    parser.add_argument("--manifest", required=True, help="the artifact's manifest")
    parser.add_argument("--launcher", help="the compiled launcher")
    parser.add_argument("--compression", choices=LEVELS, default="balanced", help="speed against size")
    parser.add_argument("--threads", type=int, default=1, help="threads that deflate, if there are cores for them")
    parser.add_argument("--verbose", action="store_true", help="print how much was packed, and how fast")
    parser.add_argument(
        "--segment", action="append", required=True, help="segment to write, for the edit file in order"
    )
    parser.add_argument("--index", action="append", required=True, help="its index to write")
    parser.add_argument("files", nargs="*", metavar="FILE=PATH", help="the build's name of a file, and where it is")
    args = Arguments(**vars(parser.parse_args(argv)))

    return report_errors(args.label, lambda: pack(args))
