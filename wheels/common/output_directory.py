"""Directories for new wheels: whole ones come to lie there, or nothing does."""

import errno
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from lib.common.command import CannotRunError
from lib.common.program import size_text


@contextmanager
def scratch_directory(output: Path) -> Iterator[Path]:
    """Make a directory inside of `output`, and `output` itself; what is empty in the end goes, and what is scratch.

    A run that is killed leaves `.new-wheels-*` there. Raises ToolError if a file is in the way, and if the disk, or the
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
        free = shutil.disk_usage(output).free
        with tempfile.TemporaryDirectory(prefix=".new-wheels-", dir=output) as scratch:
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
