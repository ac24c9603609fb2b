"""Writes `_rocm_init.py`, with which a framework's wheel prepares a process for its extension modules.

The program behind the rule `rocm_init_py`. As for `rocm-sdk init-py`, `rocm_sdk.init_py` makes the text: one generator
for both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rocm_sdk.init_py import init_py_text, preload_names

from lib.common.arguments import run_program
from lib.common.program import ToolError


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


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule. A `str` is the path of a file, unless its comment says otherwise."""

    label: str
    output: str  #: Module to write.
    preload: list[str]  #: Short names of libraries to load.
    extension: list[str]  #: Extensions whose needed libraries to load.
    fail_on_version_mismatch: bool  #: Whether to raise an error instead of a warning.
    check_version: str = ""  #: Version of ROCm to expect; `*` stands for any characters. Empty: any.


def write(args: Arguments) -> None:
    """Write the module. Raises ToolError as `names` and `text` do."""
    source = text(names(args.preload, args.extension), args.check_version, args.fail_on_version_mismatch)
    Path(args.output).write_text(source, encoding="utf-8")


def main(argv: list[str]) -> int:
    """Write the module."""
    return run_program(Arguments, argv, write)
