"""Reports the sizes of packages: host, device, data, installed and download, and of thin packages what fat ones hold.

    size_report --label TARGET --style CSS [--coverage JSON] --html FILE --json FILE
                (--plan KEY=FILE --digest KEY=FILE --index KEY=FILE… --facts KEY=FILE…)…

KEY says which package a file tells about. No wheel and no segment is read: their documents have all numbers.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib.common.digest import read_digest
from lib.common.program import (
    ToolError,
    argument_parser,
    file_arguments,
    read_document,
    report_errors,
    write_document,
)
from lib.coverage.table import read_coverage
from lib.pack.segment import SegmentIndex
from lib.plan.model import Plan
from tools.actions.size_report.measure import MeasuredPackage, measure
from tools.actions.size_report.page import report_page


@dataclass(frozen=True)
class Arguments:
    """The command line; `--help` says what each argument is."""

    label: str
    style: str
    coverage: str | None
    plan: list[str]
    digest: list[str]
    index: list[str]
    facts: list[str]
    html: str
    json: str


def _by_key(pairs: list[str]) -> dict[str, list[str]]:
    """Return the files of each key, of arguments `KEY=FILE`."""
    files: dict[str, list[str]] = {}
    for key, _, path in (pair.partition("=") for pair in pairs):
        files.setdefault(key, []).append(path)
    return files


def read_packages(args: Arguments) -> list[MeasuredPackage]:
    """Read what is known of packages, in the order of their plans. Raises ToolError for one without a digest."""
    digests, indexes, facts = file_arguments(args.digest), _by_key(args.index), _by_key(args.facts)
    documents: dict[str, dict[str, Any]] = {}  # Packages that are made from the same artifacts have the same facts.
    packages = []
    for key, path in file_arguments(args.plan).items():
        if key not in digests:
            raise ToolError(f"--plan={key}={path}: expected the digest of the package's wheel, --digest={key}=FILE")
        read = [SegmentIndex.from_document(read_document(index)) for index in indexes.get(key, [])]
        for one in facts.get(key, []):
            if one not in documents:
                documents[one] = read_document(one)["files"]
        digest = read_digest(digests[key])
        packages.append(
            MeasuredPackage(
                plan=Plan.from_document(read_document(path)),
                packed={entry.path: entry for index in read for entry in index.entries},
                facts={source: told for one in facts.get(key, []) for source, told in documents[one].items()},
                filename=digest.filename,
                download=digest.size,
            )
        )
    return packages


def write(args: Arguments) -> None:
    """Write the report, as a page and as a document."""
    report = measure(read_packages(args))
    coverage = read_coverage(args.coverage) if args.coverage else None
    style = Path(args.style).read_text(encoding="utf-8")
    Path(args.html).write_text(report_page(report, coverage, style), encoding="utf-8")
    write_document(args.json, report.to_document())


def main(argv: list[str]) -> int:
    """Parse the arguments and write."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    parser.add_argument("--style", required=True, metavar="CSS", help="style sheet of the page")
    parser.add_argument("--coverage", metavar="JSON", help="coverage table: which library has code for which GPU")
    parser.add_argument("--plan", action="append", required=True, metavar="KEY=FILE", help="a package's plan")
    parser.add_argument("--digest", action="append", default=[], metavar="KEY=FILE", help="its wheel's name and size")
    parser.add_argument("--index", action="append", default=[], metavar="KEY=FILE", help="index of one of its segments")
    parser.add_argument("--facts", action="append", default=[], metavar="KEY=FILE", help="facts of one of its units")
    parser.add_argument("--html", required=True, metavar="FILE", help="page to write")
    parser.add_argument("--json", required=True, metavar="FILE", help="document to write")
    args = Arguments(**vars(parser.parse_args(argv)))
    return report_errors(args.label, lambda: write(args))
