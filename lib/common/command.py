"""Commands for people: what exit codes mean, and how errors are printed."""

import argparse
import os
import sys
from collections.abc import Callable
from typing import Any, Final

from lib.common.program import ToolError

OK: Final = 0
FOUND: Final = 1
CANNOT_RUN: Final = 2
#: As shells say it of SIGINT.
INTERRUPTED: Final = 130


class FoundError(ToolError):
    """Bad input that was read: exit code 1."""


class CannotRunError(ToolError):
    """The command line is wrong, or what it names cannot be read or written: exit code 2."""


class CommandParser(argparse.ArgumentParser):
    """A command line: options are written in full, and the help keeps the lines of what it is given."""

    def __init__(self, prog: str | None = None, **options: Any) -> None:
        """Take what ArgumentParser takes; the parsers of subcommands are alike."""
        super().__init__(prog, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **options)

    def add_repeated(self, option: str, metavar: str, about: str, kind: type = str) -> None:
        """Add an option that may be repeated, with one value each time."""
        self.add_argument(option, action="append", default=[], type=kind, metavar=metavar, help=about)


def exit_codes(done: str, found: str = "") -> str:
    """Return what the help of a command says of its exit codes; without `found` it has no 1."""
    lines = {
        OK: done,
        FOUND: found,
        CANNOT_RUN: "the command line is wrong, or what it names cannot be read or written",
    }
    return "exit code:" + "".join(f"\n  {code}  {meaning}" for code, meaning in lines.items() if meaning)


def run_command(
    name: str, work: Callable[[], int | None], *, interrupted: str = "nothing was written", otherwise: int = CANNOT_RUN
) -> int:
    """Run the work of a command and return its exit code; `otherwise` is the code for a plain ToolError."""
    try:
        status = work() or OK
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # Whoever reads has enough. Python would fail once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except (ToolError, OSError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        if isinstance(error, FoundError):
            return FOUND
        return otherwise if isinstance(error, ToolError) and not isinstance(error, CannotRunError) else CANNOT_RUN
    except KeyboardInterrupt:
        print(f"{name}: interrupted; {interrupted}", file=sys.stderr)
        return INTERRUPTED
