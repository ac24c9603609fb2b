"""Makes a wheel require an SDK, for `sdk_requiring_wheel`: what `require-sdk` does, with the errors of an action."""

from dataclasses import dataclass
from pathlib import Path

from lib.common.arguments import run_program
from wheels.require_sdk import tool
from wheels.require_sdk.rocm import INIT_PY


@dataclass(frozen=True)
class Arguments(tool.Arguments):
    """Arguments from the rule: the arguments of the command, and its own."""

    label: str
    report: Path  #: File for what the command would print.


def require(args: Arguments) -> None:
    """Make the wheel."""
    args.report.write_text("\n".join([*tool.require(args, INIT_PY), ""]), encoding="utf-8")


def main(argv: list[str]) -> int:
    """Make the wheel."""
    return run_program(Arguments, argv, require)
