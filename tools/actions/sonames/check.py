"""Compares a build's table of libraries with the committed table, and writes it if all is well.

sonames_check --label TARGET --computed TABLE [--expected TABLE --committed PATH] --accept COMMAND --output TABLE
"""

from lib.common.program import ToolError, argument_parser, report_errors
from tools.actions.sonames.table import differences, read_sonames, write_sonames


def main(argv: list[str]) -> int:
    """Parse the arguments and compare."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    parser.add_argument("--computed", required=True, metavar="TABLE", help="the table of this build")
    parser.add_argument("--expected", metavar="TABLE", help="the table that was committed")
    parser.add_argument("--committed", default="", metavar="PATH", help="where that lies in the workspace")
    parser.add_argument("--accept", required=True, metavar="COMMAND", help="what accepts all differences")
    parser.add_argument("--output", required=True, metavar="TABLE", help="the table to write, if all is well")
    args = parser.parse_args(argv)

    def work() -> None:
        found = read_sonames(args.computed)
        if args.expected and (lines := list(differences(read_sonames(args.expected), found))):
            head = f"libraries differ from what {args.committed} says:"
            raise ToolError("\n".join([head, *lines, f"If all of this is meant, accept it: {args.accept}"]))
        write_sonames(args.output, found)

    return report_errors(args.label, work)
