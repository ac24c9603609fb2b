"""Checks the coverage table of a build, and writes it for those who go on with it.

All that is wrong is said at once: targets that should not be offered, and every difference to the table that was
committed. Where none was, one note says what each package lacks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lib.common.arguments import run_program
from lib.common.program import ToolError, named, note, write_document
from lib.coverage.table import (
    Coverage,
    differences,
    lacking,
    lacks_by_processor,
    read_coverage,
    refused,
    restricted,
    write_coverage,
)


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule. A `str` is the path of a file, unless its comment says otherwise."""

    label: str
    computed: str  #: The table of this build.
    expected: str | None  #: The table that was committed.
    accept: str  #: The command that accepts all differences.
    compared: list[str]  #: GPU targets whose code alone is compared.
    package: dict[str, str]  #: A package's GPU targets, with commas between them.
    table: str  #: The table to write, if all is well.
    lacks: str  #: What each target lacks, to write.
    stamp: str  #: Empty file to write.
    committed: str = ""  #: Where the committed table lies in the workspace.
    targets_option: str = ""  #: The option that sets the packages' targets, if there is one.


@dataclass(frozen=True)
class Expected:
    """The table that was committed."""

    coverage: Coverage
    #: Where it lies, for people.
    path: str
    #: Targets whose code is compared; all if there are none.
    compared: Sequence[str]
    #: The command that accepts all differences.
    accept: str


def difference_message(found: Coverage, expected: Expected) -> str | None:
    """Return what differs, by library, and how to accept that; None if nothing does."""
    differing = differences(*(restricted(one, expected.compared) for one in (expected.coverage, found)))
    if not differing:
        return None
    lines = [f"device code differs from what {expected.path} says:"]
    lines += [line for one in differing for line in one.describe()]
    return "\n".join([*lines, f"If all of this is meant, accept it: {expected.accept}"])


def offer_message(found: Coverage, packages: Mapping[str, Sequence[str]], accept: str, option: str = "") -> str | None:
    """Return which targets of packages should not be offered, why, and what to do; None if all can be.

    `option` is the command-line option that sets the targets, if there is one.
    """
    owners = {target: name for name, targets in packages.items() for target in targets}
    without = refused(found, list(owners))
    if not without:
        return None
    lines = ["packages are declared for GPU targets that lack the libraries that nearly all others have:"]
    for one in without:
        package = owners[one.target]
        where = "" if package == one.target else f" (of package {package})"
        lines.append(f"  {one.target}{where}: no code in {', '.join(one.libraries)}")
    names = ", ".join(one.target for one in without)
    lines.append(
        f"Do not offer {names}: leave it out of {option or '`targets`'}. If it is meant, commit the table that says "
        f"so: {accept}"
    )
    return "\n".join(lines)


def lack_summary(found: Coverage, packages: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the packages that lack anything, and in how many libraries."""
    lacks = {name: {one for target in of for one in lacking(found, target)} for name, of in sorted(packages.items())}
    return [f"{name} (in {len(libraries)})" for name, libraries in lacks.items() if libraries]


def check(args: Arguments) -> None:
    """Check, and write the table and what each target lacks. Raises ToolError with all that is wrong."""
    found = read_coverage(args.computed)
    packages = {name: targets.split(",") for name, targets in args.package.items()}
    wrong = offer_message(found, packages, args.accept, args.targets_option)
    if args.expected:  # Who committed a table has seen what is in it.
        expected = Expected(read_coverage(args.expected), args.committed, args.compared, args.accept)
        wrong = difference_message(found, expected)
    if wrong:
        raise ToolError(wrong)
    summary = lack_summary(found, packages)
    if summary and not args.expected:
        note(
            args.label,
            f"{len(summary)} packages lack code for their GPUs in some libraries: {named(summary)}. To have this "
            f"checked, commit the table: {args.accept}; {args.lacks} has all",
        )
    write_coverage(args.table, found)
    write_document(args.lacks, {target: list(libraries) for target, libraries in lacks_by_processor(found).items()})
    Path(args.stamp).touch()


def main(argv: list[str]) -> int:
    """Check the table."""
    return run_program(Arguments, argv, check)
