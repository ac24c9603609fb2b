"""The output of `rocm-sdk`: what cannot be written, or not in the encoding of standard output.

Commands print with `say`. It raises the errors of `sys.stdout`; `cli.main` reports them to users in one line.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress

#: What writing to a file that is closed, full or broken ends with. Windows says EINVAL of a pipe that nobody reads.
WRITE_ERRORS = frozenset((errno.EBADF, errno.EDQUOT, errno.EFBIG, errno.EINVAL, errno.EIO, errno.ENOSPC, errno.EPIPE))


def say(text: str, end: str = "\n") -> None:
    """Print a text to standard output: in its encoding, or in UTF-8 if that lacks a character, as code pages do.

    Names of files that are no text, as Linux allows, are written as the bytes that they are. Raises OSError if the
    output cannot be written.
    """
    stream = sys.stdout
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8", getattr(stream, "errors", None) or "strict")
    except UnicodeEncodeError:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors=sys.getfilesystemencodeerrors())
    print(text, end=end)


def terminal_width() -> int:
    """Return the columns of the terminal that standard output goes to, or 0 if it goes elsewhere."""
    if not sys.stdout.isatty():
        return 0
    import shutil

    return shutil.get_terminal_size().columns


def open_closed_streams() -> None:
    """Open the standard streams that this process was started without, as `>&-` does: Python has None for them.

    Standard output then fails when it is written to, as a closed one does, and standard error leads nowhere.
    """
    # Either may be missing, whatever type checkers know.
    streams = vars(sys)
    if streams["stdout"] is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if streams["stderr"] is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def complain(text: str) -> None:
    """Print a line to standard error, if that can be written."""
    with suppress(OSError, ValueError):
        print(f"rocm-sdk: {text}", file=sys.stderr, flush=True)


def is_closed_pipe(error: OSError) -> bool:
    """Return whether writing failed because nobody reads the output any more."""
    return isinstance(error, BrokenPipeError) or (os.name == "nt" and error.errno == errno.EINVAL)


def discard_output() -> None:
    """Drop what standard output could not take: Python would complain when it writes that once more at the end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
