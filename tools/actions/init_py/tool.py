"""Writes `_rocm_init.py`, with which a framework's wheel prepares a process for its extension modules.

    init_py_tool --label TARGET --output FILE [--preload NAME…] [--extension FILE…]
                 [--check-version VERSION] [--fail-on-version-mismatch]

The program behind the rule `rocm_init_py`. As for `rocm-sdk init-py`, `rocm_sdk.init_py` makes the text: one generator
for both.
"""

from collections.abc import Sequence
from pathlib import Path

from rocm_sdk.init_py import init_py_text, preload_names

from lib.common.program import ToolError, argument_parser, report_errors


def names(preload: Sequence[str], extensions: Sequence[str]) -> list[str]:
    """Return the short names to preload: those given, then those that the extensions need, none twice.

    Raises ToolError for an extension that does not say what it needs.
    """
    found = list(preload)
    for extension in extensions:
        try:
            found += preload_names(extension)
        except ValueError as error:
            raise ToolError(str(error)) from None
    return list(dict.fromkeys(found))


def text(preload: Sequence[str], check_version: str, fail_on_version_mismatch: bool) -> str:
    """Return the source of the module; an empty `check_version` checks nothing. Raises ToolError for a bad argument."""
    try:
        return init_py_text(preload, check_version or None, fail_on_version_mismatch)
    except ValueError as error:
        raise ToolError(str(error)) from None


def main(argv: list[str]) -> int:
    """Parse the arguments and write."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    parser.add_argument("--output", required=True, help="module to write")
    parser.add_argument("--preload", action="append", default=[], help="short name of a library to load")
    parser.add_argument("--extension", action="append", default=[], help="extension whose needed libraries to load")
    parser.add_argument("--check-version", default="", help="version of ROCm to expect; `*` stands for any characters")
    parser.add_argument("--fail-on-version-mismatch", action="store_true", help="raise an error instead of a warning")
    args = parser.parse_args(argv)

    def work() -> None:
        source = text(names(args.preload, args.extension), args.check_version, args.fail_on_version_mismatch)
        Path(args.output).write_text(source, encoding="utf-8")

    return report_errors(args.label, work)
