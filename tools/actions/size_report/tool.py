"""Reports the sizes of packages: host, device, data, installed and download, and of thin packages what fat ones hold.

A key says which package a file tells about. No wheel and no segment is read: their documents have all numbers.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib.common.arguments import run_program
from lib.common.digest import read_digest
from lib.common.program import ToolError, read_document, write_document
from lib.coverage.table import read_coverage
from lib.pack.segment import SegmentIndex
from lib.plan.model import Plan
from tools.actions.size_report.measure import MeasuredPackage, measure
from tools.actions.size_report.page import report_page


@dataclass(frozen=True)
class Arguments:
    """What the rule says; a `str` is the path of a file, unless its comment says otherwise."""

    label: str
    style: str  #: Style sheet of the page.
    coverage: str | None  #: Coverage table: which library has code for which GPU.
    plan: dict[str, str]  #: Packages' plans.
    digest: dict[str, str]  #: Their wheels' names and sizes.
    index: list[str]  #: KEY=FILE: indexes of their segments.
    facts: list[str]  #: KEY=FILE: facts of their units.
    html: str  #: Page to write.
    json: str  #: Document to write.


def _by_key(pairs: list[str]) -> dict[str, list[str]]:
    """Return the files of each key, of arguments `KEY=FILE`."""
    files: dict[str, list[str]] = {}
    for key, _, path in (pair.partition("=") for pair in pairs):
        files.setdefault(key, []).append(path)
    return files


def read_packages(args: Arguments) -> list[MeasuredPackage]:
    """Read what is known of packages, in the order of their plans. Raises ToolError for one without a digest."""
    indexes, facts = _by_key(args.index), _by_key(args.facts)
    documents: dict[str, dict[str, Any]] = {}  # Packages that are made from the same artifacts have the same facts.
    packages = []
    for key, path in args.plan.items():
        if key not in args.digest:
            raise ToolError(f"--plan={key}={path}: expected the digest of the package's wheel, --digest={key}=FILE")
        read = [SegmentIndex.from_document(read_document(index)) for index in indexes.get(key, [])]
        for one in facts.get(key, []):
            if one not in documents:
                documents[one] = read_document(one)["files"]
        digest = read_digest(args.digest[key])
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
    """Write the report."""
    return run_program(Arguments, argv, write)
