"""Makes a wheel require an SDK, for `sdk_requiring_wheel`: what `require-sdk` does, with the errors of an action.

require_sdk --label TARGET --sdk WHEEL… --output DIR [--specifier SPEC] … WHEEL
"""

from tools.commands.require_sdk.init_py import InitPy
from tools.commands.require_sdk.tool import Arguments, add_arguments, require
from tools.lib.common.program import argument_parser, report_errors


def main(argv: list[str], init_py: InitPy) -> int:
    """Parse the arguments and make the wheel."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    add_arguments(parser)
    parsed = vars(parser.parse_args(argv))
    label = str(parsed.pop("label"))
    return report_errors(label, lambda: _require(Arguments(**parsed), init_py))


def _require(arguments: Arguments, init_py: InitPy) -> None:
    require(arguments, init_py)
