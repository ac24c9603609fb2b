"""Writes the table of libraries of some packages, from their plans.

sonames --label TARGET --plan PLAN… --output TABLE
"""

from lib.common.program import ToolError, argument_parser, read_document, report_errors
from lib.plan.model import Plan
from tools.actions.sonames.table import sonames_of, write_sonames


def write(paths: list[str], output: str) -> None:
    """Write the table. Raises ToolError for two packages of one name."""
    plans = [Plan.from_document(read_document(path)) for path in paths]
    names = [plan.package for plan in plans]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ToolError(
            f"several packages are called {', '.join(twice)}; expected a name for each. Change their `package`"
        )
    write_sonames(output, {plan.package: sonames for plan in plans if (sonames := sonames_of(plan))})


def main(argv: list[str]) -> int:
    """Parse the arguments and write."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    parser.add_argument("--plan", action="append", required=True, help="plan of a package")
    parser.add_argument("--output", required=True, help="the table to write")
    args = parser.parse_args(argv)
    return report_errors(args.label, lambda: write(args.plan, args.output))
