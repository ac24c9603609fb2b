"""Splits a wheel, as `sdk_split_wheel` asks for it: what `rocm-wheels split` does, with the errors of an action.

split_wheel --label TARGET --targets LIST --output DIR --report FILE [--shape SHAPE] … WHEEL
"""

from pathlib import Path

from lib.common.program import argument_parser, report_errors
from wheels.split.tool import Arguments, add_arguments, split


def main(argv: list[str]) -> int:
    """Parse the arguments and split."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    parser.add_argument("--report", required=True, help="file for what the command would print")
    add_arguments(parser)
    parsed = vars(parser.parse_args(argv))
    label, report = str(parsed.pop("label")), Path(parsed.pop("report"))
    return report_errors(label, lambda: _split(Arguments(**parsed), report))


def _split(arguments: Arguments, report: Path) -> None:
    lines = split(arguments)
    report.write_text("\n".join([*lines, ""]), encoding="utf-8")
