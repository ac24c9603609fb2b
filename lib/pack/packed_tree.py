"""Reads the segments that `pack` wrote for a package: their indexes, as runs of the files of its tree.

The runs become members of the wheel, or one member: a tar archive (POSIX.1-2001 pax) of the tree.
"""

import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from lib.common.program import ToolError, read_document
from lib.pack.segment import Packed, SegmentIndex
from lib.plan.model import OTHER_NAMES, Entry, Kind, Plan, Treatment
from lib.wheel.deflated_run import Run, end_run, header_run, padding_run, small_run

#: How the path of a file begins that the wheel places in the package's tree.
IN_TREE = "{tree}/"


def packed_run(packed: Packed, segment: str) -> Run:
    """Return the run of an entry that `pack` left in a segment."""
    return Run(packed.length, packed.size, packed.crc32, segment=segment, offset=packed.offset)


@dataclass(frozen=True)
class PackedTree:
    """The packed files of a package, by path."""

    packed: dict[str, Packed]
    runs: dict[str, Run]


def _check_equal(plan: Plan, digests: dict[str, str]) -> None:
    """Raise ToolError when two files that stand for each other differ."""
    other_names = {entry.source for entry in plan.entries if entry.treatment in OTHER_NAMES}
    for kept, dropped in plan.equal_sources:
        if digests[kept] != digests[dropped]:
            common, remedy = "path", "Remove one of them, or give it another name"
            if dropped in other_names:
                common, remedy = "SONAME and size", "Exclude one of them, or link it with another SONAME"
            raise ToolError(
                f"{kept} and {dropped} have one {common} in package {plan.package}, but different content "
                f"(SHA-256 {digests[kept][:12]}… and {digests[dropped][:12]}…); expected equal content. {remedy}"
            )


def read_tree(plan: Plan, indexes: list[str], segments: list[str]) -> PackedTree:
    """Read the indexes of all units and check that they hold just what the plan says."""
    packed, runs, digests = {}, {}, {}
    for index_path, segment in zip(indexes, segments, strict=True):
        index = SegmentIndex.from_document(read_document(index_path))
        digests.update(index.source_sha256)
        for entry in index.entries:
            packed[entry.path] = entry
            runs[entry.path] = packed_run(entry, segment)
    _check_equal(plan, digests)
    planned = {entry.path for entry in plan.entries if entry.is_packed_file}
    if planned != set(packed):
        raise ToolError(f"{plan.package}: plan and segments disagree about {sorted(planned ^ set(packed))[:5]}")
    return PackedTree(packed, runs)


def add_to_tree(plan: Plan, tree: PackedTree, files: dict[str, str]) -> tuple[Plan, PackedTree]:
    """Return the plan and the tree with more small files, {path that begins with IN_TREE: file}.

    Raises ToolError for a path that the package has already.
    """
    entries, packed, runs = list(plan.entries), dict(tree.packed), dict(tree.runs)
    taken = {entry.path for entry in entries if entry.treatment is not Treatment.DROP}
    for name, file in files.items():
        path = name.removeprefix(IN_TREE)
        if path in taken:
            raise ToolError(
                f"{path}: `files` places {file} there, but package {plan.package} has this path already; expected one "
                "file per path. Give it another path, or exclude the package's"
            )
        data = Path(file).read_bytes()
        run = small_run(data)
        entries.append(Entry(path, Kind.FILE, Treatment.KEEP, "placed by the wheel", file))
        packed[path] = Packed(path, "0644", 0, run.length, run.size, run.crc32, sha256(data).hexdigest())
        runs[path] = run
    entries.sort(key=lambda entry: entry.path)
    return replace(plan, entries=tuple(entries)), PackedTree(packed, runs)


def tar_runs(tree: str, packed: Mapping[str, Packed], runs: Mapping[str, Run]) -> Iterator[Run]:
    """Yield the runs of a tar archive of a tree's files, below the directory `tree`."""
    for path in sorted(packed):
        run = runs[path]
        yield header_run(f"{tree}/{path}", int(packed[path].mode, 8), tarfile.REGTYPE, run.size)
        yield run
        yield padding_run(run.size)
    yield end_run()
