"""Packs the entries of one unit: patches ELF files in flight, deflates, digests.

    pack --label TARGET --edits FILE --artifact NAME --manifest FILE --launcher PROGRAM
         --compression fast|balanced|small --threads N [--verbose] --segment OUT --index OUT FILE=PATH…

Bulk bytes are read here, once, and nowhere else. What an entry becomes is in the edit
file; the result is a segment and its index (`tools.pack.segment`).
"""

import argparse
from pathlib import Path

from tools.common.cores import usable_cores
from tools.common.documents import read_document, write_document
from tools.common.manifest import located_sources
from tools.common.program import argument_parser, report_errors
from tools.common.rates import Stopwatch
from tools.pack.segment import Index

#: Build setting `compression` -> libdeflate's level.
LEVELS = {"fast": 1, "balanced": 5, "small": 10}


def pack(args: argparse.Namespace) -> None:
    """Write the segment and its index."""
    stopwatch, segment = Stopwatch(verbose=args.verbose), Path(args.segment)
    edits = read_document(args.edits)
    if edits["entries"] or edits["digest"]:
        # Of the units of a devel package, most have nothing to pack: what packs takes longer to import than they to do.
        from tools.pack.packer import pack_unit

        located = located_sources(args.manifest, args.artifact, args.files)
        threads = usable_cores(args.threads)
        index = pack_unit(edits, located, args.launcher, segment, LEVELS[args.compression], threads)
    else:
        segment.touch()
        index = Index((), {})
    write_document(args.index, index.to_document())
    taken = sum(entry.size for entry in index.entries)
    stopwatch.report(f"packed {len(index.entries)} files of {args.artifact}", taken, segment.stat().st_size)


def main(argv: list[str]) -> int:
    """Pack what the edit file names and write the segment and its index."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    parser.add_argument("--edits", required=True, help="the unit's edit file, from plan")
    parser.add_argument("--artifact", required=True, help="name of the artifact")
    parser.add_argument("--manifest", required=True, help="the artifact's manifest")
    parser.add_argument("--launcher", help="the compiled launcher")
    parser.add_argument("--compression", choices=sorted(LEVELS), default="balanced", help="speed against size")
    parser.add_argument("--threads", type=int, default=1, help="threads that deflate, if there are cores for them")
    parser.add_argument("--verbose", action="store_true", help="print how much was packed, and how fast")
    parser.add_argument("--segment", required=True, help="segment to write")
    parser.add_argument("--index", required=True, help="index to write")
    parser.add_argument("files", nargs="*", metavar="FILE=PATH", help="the build's name of a file, and where it is")
    args = parser.parse_args(argv)

    return report_errors(args.label, lambda: pack(args))
