"""Writes the bill of materials of a wheel (PEP 770): which artifacts it is made from, with their hashes.

CycloneDX JSON, by its reference implementation. That takes longer to import than all else here to do, so it has an
action of its own beside link.
"""

from dataclasses import dataclass
from pathlib import Path

from lib.common.archive_time import archive_time
from lib.common.arguments import run_program
from lib.common.program import read_document
from lib.pack.segment import SegmentIndex
from lib.plan.model import Plan
from lib.wheel.metadata_writer import Project
from tools.actions.sbom.contents import contents


@dataclass(frozen=True)
class Arguments:
    """What the rule says; a `str` is the path of a file, unless its comment says otherwise."""

    label: str
    project: str  #: The distribution's metadata.
    plan: str
    index: list[str]  #: Indexes of units' segments.
    license_pattern: list[str]  #: Glob patterns of paths of licence texts.
    archive: dict[str, str]  #: SHA-256 of the archives that artifacts came as, by artifact.
    origins: str | None  #: Where artifacts come from, by their names.
    output: str  #: Document to write.


def write(args: Arguments) -> None:
    """Write the document."""
    # Imported late: a bad argument shall not wait for it.
    from tools.actions.sbom.document import document
    from tools.actions.sbom.origins import read_origins

    plan = Plan.from_document(read_document(args.plan))
    packed = {
        entry.path: entry for path in args.index for entry in SegmentIndex.from_document(read_document(path)).entries
    }
    project = Project.from_document(read_document(args.project))
    found = contents(plan, packed, tuple(args.license_pattern))
    origins = read_origins(args.origins, project.version) if args.origins else {}
    text = document(project, found, args.archive, origins, archive_time())
    Path(args.output).write_text(text, encoding="utf-8")


def main(argv: list[str]) -> int:
    """Write the document."""
    return run_program(Arguments, argv, write)
