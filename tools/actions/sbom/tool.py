"""Writes the bill of materials of a wheel (PEP 770): which artifacts it is made from, with their hashes.

    sbom --label TARGET --project JSON --plan PLAN --index FILE… --license-pattern GLOB…
         --archive ARTIFACT=SHA256… --origins JSON --output SBOM

CycloneDX JSON, by its reference implementation. That takes longer to import than all else here to do, so it has an
action of its own beside link.
"""

from dataclasses import dataclass
from pathlib import Path

from lib.common.archive_time import archive_time
from lib.common.program import argument_parser, file_arguments, read_document, report_errors
from lib.pack.segment import SegmentIndex
from lib.plan.model import Plan
from lib.wheel.metadata_writer import Project
from tools.actions.sbom.contents import contents


@dataclass(frozen=True)
class Arguments:
    """The command line; `--help` says what each argument is."""

    label: str
    project: str
    plan: str
    index: list[str]
    license_pattern: list[str]
    archive: list[str]
    origins: str | None
    output: str


def write(args: Arguments) -> None:
    """Write the document."""
    # Imported late: a bad argument or --help shall not wait for it.
    from tools.actions.sbom.document import document
    from tools.actions.sbom.origins import read_origins

    plan = Plan.from_document(read_document(args.plan))
    packed = {
        entry.path: entry for path in args.index for entry in SegmentIndex.from_document(read_document(path)).entries
    }
    project = Project.from_document(read_document(args.project))
    found = contents(plan, packed, tuple(args.license_pattern))
    origins = read_origins(args.origins, project.version) if args.origins else {}
    text = document(project, found, file_arguments(args.archive), origins, archive_time())
    Path(args.output).write_text(text, encoding="utf-8")


def main(argv: list[str]) -> int:
    """Parse the arguments and write."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    parser.add_argument("--project", required=True, help="JSON file: the distribution's metadata")
    parser.add_argument("--plan", required=True, help="the package's plan")
    parser.add_argument("--index", action="append", default=[], help="index of a unit's segment")
    parser.add_argument("--license-pattern", action="append", default=[], help="glob pattern of paths of licence texts")
    parser.add_argument(
        "--archive", action="append", default=[], metavar="ARTIFACT=SHA256", help="archive that an artifact came as"
    )
    parser.add_argument("--origins", help="JSON file: where artifacts come from, by their names")
    parser.add_argument("--output", required=True, help="document to write")
    args = Arguments(**vars(parser.parse_args(argv)))
    return report_errors(args.label, lambda: write(args))
