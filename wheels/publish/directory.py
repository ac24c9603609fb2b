"""Publishing into a directory: of a web server, of a shared file system, or to look at.

Each file is written beside its place, under a name of its own of which listings show nothing (`.NAME.….partial`), and
gets its real name when it is whole and on the disk. So processes that publish at the same time never write to one file.
What an interrupted run left is removed by the next.
"""

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from lib.common.digest import file_sha256
from lib.common.program import ToolError
from wheels.publish.files import LocalFile
from wheels.publish.place import Sent, TakenError

CHUNK = 1 << 20
#: Servers and other users read what is published, whatever the umask of the publisher is.
MODE = 0o644


def _is_partial(name: str) -> bool:
    return name.startswith(".") and name.endswith(".partial")


def _create(path: Path) -> tuple[BinaryIO, Path]:
    """Make a file beside a path that is ours until it is closed, under a name that no other process writes to."""
    while True:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)
        file = os.fdopen(descriptor, "wb")
        fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file.fileno()).st_nlink:
            os.fchmod(file.fileno(), MODE)
            return file, Path(name)
        file.close()  # Before we held it, another process took it for a left-over.


def _remove_left_over(path: Path) -> None:
    """Remove a partial file that nobody holds: the process that made it is gone.

    It may be a second name of a published file, so it is not written to.
    """
    with suppress(BlockingIOError, FileNotFoundError), path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()


@contextmanager
def _partial(path: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """Yield a file to fill, and its path beside `path`; what has not been renamed is removed at the end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file, partial = _create(path)
    with file:
        try:
            yield file, partial
        finally:
            partial.unlink(missing_ok=True)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)  # So that the name outlives a power failure as well.
    finally:
        os.close(directory)


def _copy(file: LocalFile, output: BinaryIO, sent: Sent) -> None:
    """Copy a file to the disk. Raises ToolError if the file changed after its digest was taken."""
    digest = hashlib.sha256()
    with file.source.open("rb") as source:
        while chunk := source.read(CHUNK):
            digest.update(chunk)
            output.write(chunk)
            sent(len(chunk))
    if digest.hexdigest() != file.sha256:
        raise ToolError(f"{file.source}: changed while it was published; publish again when the build has ended")
    output.flush()
    os.fsync(output.fileno())


class DirectoryPlace:
    """A directory of this machine, which need not be there yet."""

    keeps_index = False

    def __init__(self, root: Path) -> None:
        """Raise ToolError if `root` exists and is not a directory."""
        if root.exists() and not root.is_dir():
            raise ToolError(f"{root}: is not a directory; expected one, or a path where none is yet")
        self.shown = str(root)
        self._root = root

    def tidy(self) -> None:
        """Remove the partial files that no process holds any more."""
        for folder, _, names in os.walk(self._root):
            for name in filter(_is_partial, names):
                _remove_left_over(Path(folder, name))

    def listing(self) -> Mapping[str, int | None]:
        """Return the path of every file that is there, with its size in bytes."""
        found: dict[str, int | None] = {}
        for folder, folders, names in os.walk(self._root):
            folders.sort()
            for path in (Path(folder, name) for name in sorted(names) if not _is_partial(name)):
                found[path.relative_to(self._root).as_posix()] = path.stat().st_size
        return found

    def sha256(self, path: str) -> str:
        """Return the SHA-256 of a file, in hex: of the bytes that are there now."""
        return file_sha256(self._root / path)

    def put(self, file: LocalFile, sent: Sent) -> None:
        """Copy a file to where none is. Raises TakenError where one is."""
        path = self._root / file.path
        with _partial(path) as (output, partial):
            _copy(file, output, sent)
            try:
                os.link(partial, path)  # Unlike rename(2), it never replaces a file.
            except FileExistsError:
                raise TakenError(file.path) from None

    @contextmanager
    def only_publisher(self) -> Iterator[None]:
        """Lock the directory itself, so nothing is left over; NFS has no such locks, and goes without."""
        self._root.mkdir(parents=True, exist_ok=True)
        directory = os.open(self._root, os.O_RDONLY)
        try:
            with suppress(OSError):
                fcntl.flock(directory, fcntl.LOCK_EX)
            yield
        finally:
            os.close(directory)

    def put_page(self, file: LocalFile, sent: Sent) -> None:
        """Copy a page, and let it take the place of an older one."""
        path = self._root / file.path
        with _partial(path) as (output, partial):
            _copy(file, output, sent)
            partial.replace(path)
