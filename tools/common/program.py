"""How every tool begins and ends: arguments from a params file, errors as one message."""

import argparse
import os
import sys
from collections.abc import Callable

from tools.common.errors import ToolError


def argument_parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser that also takes `@FILE`, a params file with one argument a line."""
    return argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        fromfile_prefix_chars="@",
        allow_abbrev=False,
    )


def _is_unreadable(path: str) -> bool:
    """Whether a file is there, or in a directory that is not passable, and may not be read."""
    try:
        os.stat(path)  # noqa: PTH116
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return not os.access(path, os.R_OK)


def report_errors(label: str, work: Callable[[], None]) -> int:
    """Run the work of a tool and return its exit code.

    A ToolError, or a file that may not be read, becomes one message on standard error that
    begins with the label of the Bazel target; anything else, also what may not be written, is
    a bug and keeps its traceback.
    """
    try:
        work()
    except ToolError as error:
        print(f"ERROR: {label}: {error}", file=sys.stderr)
        return 1
    except PermissionError as error:
        # An action sees links to its inputs: the file itself is what its owner knows.
        if not isinstance(error.filename, str) or not _is_unreadable(error.filename):
            raise
        file = os.path.realpath(error.filename)
        print(
            f"ERROR: {label}: {file}: {error.strerror}. Actions may run as another user than Bazel does: make the file "
            "readable for all, and its directories passable (chmod a+r, a+x)",
            file=sys.stderr,
        )
        return 1
    return 0


def file_arguments(pairs: list[str]) -> dict[str, str]:
    """Split arguments `KEY=PATH` of an action's inputs, at the first `=`: the key holds none.

    Raises ToolError for a key that is given twice.
    """
    found: dict[str, str] = {}
    for key, _, path in (pair.partition("=") for pair in pairs):
        if key in found:
            raise ToolError(
                f"{key}: is given twice, as {found[key]} and as {path}; expected one file. "
                "Give one of them another path"
            )
        found[key] = path
    return found
