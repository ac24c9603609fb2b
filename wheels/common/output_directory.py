"""Directories for new wheels: whole ones come to lie there, or nothing does."""

import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from lib.common.command import CannotRunError
from lib.common.program import size_text

#: What the names of scratch directories begin with.
PREFIX: Final = ".new-wheels-"


@contextmanager
def scratch_directory(output: Path) -> Iterator[Path]:
    """Make a directory inside of `output`, and `output` itself; what is empty in the end goes, and what is scratch.

    What a run that was killed left there goes, too. Raises ToolError if a file is in the way, and if the disk, or the
    user's part of it, becomes full.
    """
    existed = output.is_dir()
    try:
        output.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise CannotRunError(
            f"{output}: is a file, or lies below one; expected a directory or nothing. Choose another --output"
        ) from None
    try:
        _remove_left_overs(output)
        free = shutil.disk_usage(output).free
        with (
            tempfile.TemporaryDirectory(prefix=PREFIX, dir=output) as scratch,
            _held(Path(scratch)),
        ):
            yield Path(scratch)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise CannotRunError(
            f"{output}: {error.strerror}; {size_text(free)} were free. Choose another --output, or remove files"
        ) from None
    finally:
        if not existed:
            with suppress(OSError):  # It holds new wheels.
                output.rmdir()


@contextmanager
def _held(directory: Path) -> Iterator[None]:
    """Hold a directory, so that no other process takes it for a left-over."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        with suppress(OSError):  # Some network file systems lock no directories: there left-overs stay.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _remove_left_overs(output: Path) -> None:
    """Remove scratch directories that no process holds, except empty ones: a process may have just made them."""
    for path in sorted(output.glob(f"{PREFIX}*")):
        with suppress(OSError):  # Held, or gone.
            descriptor = os.open(path, os.O_RDONLY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if any(path.iterdir()):
                    shutil.rmtree(path)
            finally:
                os.close(descriptor)


def check_free(output: Path, places: Sequence[str]) -> None:
    """Raise ToolError if a directory is where a file has to be, or something else where a folder has to be."""
    for place in places:
        path, folder = output / place, (output / place).parent
        what = ""
        if path.is_dir():
            what = f"{path}: is a directory; expected a file"
        elif folder.exists() and not folder.is_dir():
            what = f"{folder}: is a file; expected a directory"
        if what:
            raise CannotRunError(f"{what} or nothing. Remove it, or choose another --output")


def publish(scratch: Path, output: Path, places: Sequence[str]) -> None:
    """Move whole wheels to their places; a wheel that is there already is replaced.

    Raises ToolError if something is in the way, before it moves the first.
    """
    check_free(output, places)
    for place in places:
        (output / place).parent.mkdir(exist_ok=True)
        (scratch / place).replace(output / place)
