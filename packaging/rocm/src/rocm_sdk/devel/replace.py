"""Replacing a file as a whole: a reader, or an interruption at any point, sees the old file or the new one.

The new file is written under the name of the journal, then renamed. The journal is a file of its own right, which the
wheel ships empty and RECORD lists: so an interruption leaves no file that an uninstallation would not remove. It must
be on the file system of the files that it becomes, and only the holder of the tree's lock may call this.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from ..system import IS_WINDOWS, OPEN_NEW


def replace_file(path: Path, text: str, journal: Path, *, durable: bool = False) -> None:
    """Make `path` a file with `text` as UTF-8, keeping the permissions that it had; the journal is empty afterwards.

    With `durable` the text is on disk before the file has its name, so that a power failure leaves either file, too.
    Raises OSError, and leaves the old file, if it cannot be written.
    """
    try:
        _write_new(journal, text.encode("utf-8"), _permissions(path), durable)
        journal.replace(path)
    finally:
        # What was asked for is done or has failed by now, and the next call makes a journal that is missing.
        with suppress(OSError):
            _write_new(journal, b"", 0o644, durable=False)


def write_all(descriptor: int, data: bytes | memoryview) -> None:
    """Write all of `data` to an open file, however much the system takes at a time; raises OSError."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _permissions(path: Path) -> int | None:
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        return None


def _write_new(path: Path, data: bytes, permissions: int | None, durable: bool) -> None:
    """Replace `path` by a new file. The old file may be a hard link into an installer's cache, and stays as it is."""
    with suppress(FileNotFoundError):
        path.unlink()
    descriptor = os.open(path, OPEN_NEW, 0o644)
    try:
        if permissions is not None and not IS_WINDOWS:
            os.fchmod(descriptor, permissions)
        write_all(descriptor, data)
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
