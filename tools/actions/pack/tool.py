"""Packs the entries of one unit: patches and slices ELF files in flight, deflates, digests.

Bulk bytes are read here and nowhere else. What an entry becomes is in the edit file; the
result is a segment and its index (`lib.pack.segment`). Packages for different GPUs that
are made from the same unit are packed together, each with its own three files: what they
have in common is deflated once.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lib.common.arguments import run_program
from lib.common.manifest import located_sources
from lib.common.program import ToolError, read_document, usable_cores, write_document
from lib.pack.segment import LEVELS, SegmentIndex
from lib.plan.edits import Edits


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule. A `str` is the path of a file, unless its comment says otherwise."""

    label: str
    edits: list[str]  #: The unit's edit files, from packages' plans.
    artifact: str
    manifest: str
    launcher: str | None
    segment: list[str]  #: Segments to write, for the edit files in their order.
    index: list[str]  #: Their indexes to write.
    file: list[str]  #: NAME=PATH: the build's name of a file, and where it is.
    compression: Literal["fast", "balanced", "small"] = "balanced"
    threads: int = 1  #: Threads that deflate, if there are cores for them.


def pack(args: Arguments) -> None:
    """Write the segments and their indexes."""
    segments = [Path(path) for path in args.segment]
    edits = [Edits.from_document(read_document(path)) for path in args.edits]
    if not len(edits) == len(segments) == len(args.index):
        raise ToolError(
            f"{len(edits)} --edits, {len(segments)} --segment, {len(args.index)} --index: expected as many of each"
        )
    if any(one.entries or one.digest for one in edits):
        # Of the units of a devel package, most have nothing to pack: what packs takes longer to import than they to do.
        from lib.pack.packer import Work, pack_unit

        located = located_sources(args.manifest, args.artifact, args.file)
        work = [Work(*one) for one in zip(edits, segments, strict=True)]
        indexes = pack_unit(work, located, args.launcher, LEVELS[args.compression], usable_cores(args.threads))
    else:
        for segment in segments:
            segment.touch()
        indexes = [SegmentIndex((), {})] * len(segments)
    for path, index in zip(args.index, indexes, strict=True):
        write_document(path, index.to_document())


def main(argv: list[str]) -> int:
    """Write the segments and their indexes."""
    return run_program(Arguments, argv, pack)
