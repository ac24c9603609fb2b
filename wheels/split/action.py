"""Splits a wheel, as `sdk_split_wheel` asks for it: what `rocm-wheels split` does, with the errors of an action."""

from dataclasses import dataclass, replace
from pathlib import Path

from lib.common.arguments import run_program
from wheels.split import tool


@dataclass(frozen=True)
class Arguments(tool.Arguments):
    """Arguments from the rule: the arguments of the command, and its own."""

    label: str
    report: Path  #: File for what the command would print.


def wheels_of(path: Path) -> list[Path]:
    """Return a wheel, or the wheels of a directory, as `sdk_requiring_wheel` makes one."""
    return sorted(path.glob("*.whl")) if path.is_dir() else [path]


def split(args: Arguments) -> None:
    """Split the wheel."""
    args = replace(args, wheels=[wheel for path in args.wheels for wheel in wheels_of(path)])
    args.report.write_text("\n".join([*tool.split(args), ""]), encoding="utf-8")


def main(argv: list[str]) -> int:
    """Split the wheel."""
    return run_program(Arguments, argv, split)
