"""Computes the coverage table: which library has device code for which GPU target.

    coverage --label TARGET --manifest FILE… --facts FILE… --json FILE --text FILE
        [--platform windows]

Manifests and facts say all; no artifact is read. The text is for people.
"""

from dataclasses import dataclass
from pathlib import Path

from lib.common.program import argument_parser, named, note, report_errors
from lib.coverage.table import write_coverage
from lib.plan.model import WINDOWS
from tools.actions.coverage.compute import coverage_of, unread
from tools.actions.coverage.text_table import text_table
from tools.actions.plan.tool import read_artifact, read_facts


@dataclass(frozen=True)
class Arguments:
    """The command line; `--help` says what each argument is."""

    label: str
    manifest: list[str]
    facts: list[str]
    platform: str
    json: str
    text: str


def write(args: Arguments) -> None:
    """Compute the table and write it in both forms."""
    facts = read_facts(args.facts, args.platform)
    artifacts = [read_artifact(path, facts) for path in args.manifest]
    coverage = coverage_of(artifacts)
    if reasons := unread(artifacts):
        note(args.label, f"{args.json} says nothing of the device code of {len(reasons)} files: {named(reasons)}")
    write_coverage(args.json, coverage)
    Path(args.text).write_text(text_table(coverage), encoding="utf-8")


def main(argv: list[str]) -> int:
    """Parse the arguments and write."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    parser.add_argument("--manifest", action="append", default=[], help="an artifact's manifest")
    parser.add_argument("--facts", action="append", default=[], help="what inspect found in a unit")
    parser.add_argument("--platform", default="linux", choices=("linux", WINDOWS), help="what packages are for")
    parser.add_argument("--json", required=True, metavar="FILE", help="table to write")
    parser.add_argument("--text", required=True, metavar="FILE", help="text to write")
    args = Arguments(**vars(parser.parse_args(argv)))
    return report_errors(args.label, lambda: write(args))
