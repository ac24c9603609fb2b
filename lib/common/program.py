"""Shared by all programs: JSON documents, errors as one message, the number of cores, sizes, paths inside trees.

And the one time that all members of an archive have: SOURCE_DATE_EPOCH (reproducible-builds.org) sets it.
"""

import json
import os
import posixpath
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

#: prctl(2): which signal a process gets when its parent ends.
_PR_SET_PDEATHSIG = 1
#: 1980-01-01 00:00:00 and 2107-12-31 23:59:58 UTC, in seconds since 1970: the range of a zip member (APPNOTE 4.4.6).
FIRST_TIME: Final = 315532800
LAST_TIME: Final = 4354819198


class ToolError(Exception):
    """Bad input: the message names the target or file, what was expected, and the remedy."""


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

    A ToolError, or an input that may not be read or is gone, becomes one message on standard error that
    begins with the label of the Bazel target; anything else, also what may not be written, is
    a bug and keeps its traceback.
    """
    try:
        work()
    except ToolError as error:
        print(f"ERROR: {label}: {error}", file=sys.stderr)
        return 1
    except FileNotFoundError as error:
        # An action sees links to its inputs. Bazel has seen the file that the link leads to.
        if not isinstance(error.filename, str) or not Path(error.filename).is_symlink():
            raise
        file = os.path.realpath(error.filename)
        print(f"ERROR: {label}: {file}: was removed while the build ran. Put it back, or build again", file=sys.stderr)
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


def named(names: Sequence[str], separator: str = ", ", most: int = 3) -> str:
    """Join the first names; the others are a number."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return separator.join(names[:most]) + more


def note(label: str, text: str) -> None:
    """Print what an action found that may be a mistake, in one line: how many of what, and the file that has all."""
    print(f"NOTE: {label}: {text}", file=sys.stderr)


def end_with_parent(parent: int) -> None:
    """Let the kernel kill this process when its parent ends, in whatever way; end at once if it has ended already.

    `parent` is the process that forked this one. Only Linux can do that (prctl(2), PR_SET_PDEATHSIG).
    """
    import ctypes  # here: most programs need not wait for it

    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def read_document(path: str) -> Any:
    """Read a JSON file; raises ToolError with the file's name when it is not JSON."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ToolError(f"{path}: expected a JSON document: {error}") from None


def write_document(path: str, document: Any) -> None:
    """Write a JSON file with one list element or field a line, so that people can read and diff it."""
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    Path(path).write_text(text, encoding="utf-8")


def usable_cores(wanted: int) -> int:
    """Return how many threads to work with: those wanted, but no more than the cores that this process may run on.

    What a tool writes never depends on the number.
    """
    return max(1, min(wanted, len(os.sched_getaffinity(0))))


def archive_time(environment: Mapping[str, str] = os.environ) -> int:
    """Return the seconds since 1970 (UTC) that archive members are dated: SOURCE_DATE_EPOCH, or 1980-01-01.

    It is never before 1980, nor after 2107. Raises ToolError when SOURCE_DATE_EPOCH is not a number of seconds.
    """
    text = environment.get("SOURCE_DATE_EPOCH", "")
    if not text:
        return FIRST_TIME
    if not text.isascii() or not text.isdecimal():
        raise ToolError(
            f"SOURCE_DATE_EPOCH is {text!r}; expected seconds since 1970, like 1700000000. Unset it, or mend it"
        )
    return min(max(int(text.lstrip("0")[:20] or "0"), FIRST_TIME), LAST_TIME)


UNITS = ("bytes", "kB", "MB", "GB", "TB")


def printable(text: str) -> str:
    """Return a text that standard output takes: what its encoding lacks, such as bytes of a path, is escaped."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def size_text(size: int) -> str:
    """Return a number of bytes with three digits that count and a decimal unit: 1.24 GB, 512 bytes."""
    value, unit = float(size), 0
    while value >= 999.5 and unit < len(UNITS) - 1:
        value /= 1000
        unit += 1
    digits = 0 if unit == 0 or value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {UNITS[unit]}"


def range_text(least: int, most: int) -> str:
    """Return sizes between two numbers of bytes, as one where they read the same."""
    low, high = size_text(least), size_text(most)
    return low if low == high else f"{low} to {high}"


def counted(count: int, noun: str) -> str:
    """Return a number of things: 1 file, 2 files."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def directories_above(path: str) -> Iterator[str]:
    """Yield the directories above a relative path, the nearest first: `lib/a` and `lib` for `lib/a/b.so`."""
    while path := posixpath.dirname(path):
        yield path
