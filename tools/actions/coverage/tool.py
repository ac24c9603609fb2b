"""Computes the coverage table: which library has device code for which GPU target.

Manifests and facts say all; no artifact is read. The text is for people.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lib.common.arguments import run_program
from lib.common.program import named, note
from lib.coverage.table import write_coverage
from tools.actions.coverage.compute import coverage_of, unread
from tools.actions.coverage.text_table import text_table
from tools.actions.plan.tool import read_artifact, read_facts


@dataclass(frozen=True)
class Arguments:
    """What the rule says; a `str` is the path of a file, unless its comment says otherwise."""

    label: str
    manifest: list[str]  #: Of artifacts.
    facts: list[str]  #: What inspect found, by unit.
    json: str  #: Table to write.
    text: str  #: The same for people.
    platform: Literal["linux", "windows"] = "linux"


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
    """Write the coverage table."""
    return run_program(Arguments, argv, write)
