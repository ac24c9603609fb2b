"""Makes a wheel require an SDK, for `sdk_requiring_wheel`: what `require-sdk` does, with the errors of an action.

require_sdk --label TARGET --sdk WHEEL… --output DIR --report FILE [--specifier SPEC] … WHEEL
"""

from pathlib import Path

from lib.common.program import argument_parser, report_errors
from wheels.require_sdk.rocm import INIT_PY
from wheels.require_sdk.tool import Arguments, add_arguments, require


def main(argv: list[str]) -> int:
    """Parse the arguments and make the wheel."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    parser.add_argument("--report", required=True, help="file for what the command would print")
    add_arguments(parser)
    parsed = vars(parser.parse_args(argv))
    label, report = str(parsed.pop("label")), Path(parsed.pop("report"))
    return report_errors(label, lambda: _require(Arguments(**parsed), report))


def _require(arguments: Arguments, report: Path) -> None:
    lines = require(arguments, INIT_PY)
    report.write_text("\n".join([*lines, ""]), encoding="utf-8")
