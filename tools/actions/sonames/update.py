"""Accepts what a build found: writes its table of libraries over the one that was committed.

    bazel run //my:sonames_update [-- FILE]

FILE, relative to where the command is called, is needed the first time, when no table was named yet.
"""

import os
import sys

from tools.actions.coverage.update import destination
from tools.actions.sonames.table import read_sonames, write_sonames
from tools.lib.common.program import argument_parser, read_document, report_errors


def update(settings: str, computed: str, file: str | None) -> None:
    """Write the table, and say where."""
    document = read_document(settings)
    expected = document["expected_option"] or f"`expected` of {document['label'].removesuffix('_update')}"
    path = destination(document["committed"], file, os.environ, expected)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_sonames(str(path), read_sonames(computed))
    print(path)
    if not document["committed"]:
        print(f"Now set {expected} to this file")


def main(argv: list[str]) -> int:
    """Parse the arguments and write."""
    parser = argument_parser(__doc__)
    parser.add_argument("settings", help="what the rule says")
    parser.add_argument("computed", help="the table of this build")
    parser.add_argument("file", nargs="?", metavar="FILE", help="file to write, instead of the one that was named")
    args = parser.parse_args(argv)
    label = read_document(args.settings)["label"]
    return report_errors(label, lambda: update(args.settings, args.computed, args.file))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
