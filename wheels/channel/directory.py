"""A channel in a directory: of a web server, of a shared file system, or to look at.

Each file is written below `.partial`, under a name of its own, and gets its real name when it is whole and on the disk.
What an interrupted command left there is removed by the next one; nothing else in the directory is touched.
"""

import errno
import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from lib.common.command import CannotRunError
from lib.common.digest import file_sha256
from lib.common.program import size_text
from wheels.channel.local_files import LocalFile
from wheels.channel.place import ANYTHING, ChangedError, Place, StoredFile, StoredText

PARTIAL: Final = ".partial"
#: Servers and other users read the channel, whatever the umask of the publisher is.
MODE: Final = 0o644
FOLDER_MODE: Final = 0o755


def _sync(folder: Path) -> None:
    """Write the names of a directory to the disk, so that they outlive a power failure."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class DirectoryPlace(Place):
    """A directory of this machine, which need not be there yet."""

    is_ordered = False

    def __init__(self, root: Path) -> None:
        """Raise CannotRunError if `root` exists and is not a directory."""
        if root.exists() and not root.is_dir():
            raise CannotRunError(f"{root}: is not a directory; expected one, or a path where nothing is yet")
        self.shown = str(root)
        self._root = root

    def _path(self, path: str) -> Path:
        return self._root / path

    @contextmanager
    def _errors(self, path: str) -> Iterator[None]:
        """Raise what the file system cannot do as a ToolError with the remedy."""
        try:
            yield
        except OSError as error:
            why = f"cannot write {path}: {error.strerror}"
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                free = size_text(shutil.disk_usage(self._root).free)
                why = f"the disk is full: no room for {path}, {free} are free"
            raise CannotRunError(f"{self.shown}: {why}. What is listed is whole; mend this, call this again") from None

    def _make_folder(self, folder: Path) -> None:
        missing = [one for one in (folder, *folder.parents) if not one.exists()]
        for one in reversed(missing):
            with suppress(FileExistsError):
                one.mkdir()
                one.chmod(FOLDER_MODE)

    @contextmanager
    def _partials(self) -> Iterator[Path]:
        """Yield the directory of partial files; where nobody else writes any, it is empty."""
        folder = self._root / PARTIAL
        self._make_folder(folder)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with suppress(OSError):  # Somebody writes, or it is NFS, which has no such locks.
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for path in folder.iterdir():
                    path.unlink()
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_SH)
            yield folder
        finally:
            os.close(descriptor)

    @contextmanager
    def _replacing(self, path: str) -> Iterator[BinaryIO]:
        """Yield a file to fill, which replaces the one at a path when it is whole and on the disk."""
        target = self._path(path)
        with self._errors(path), self._partials() as partials:
            self._make_folder(target.parent)
            descriptor, name = tempfile.mkstemp(dir=partials)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    os.fchmod(descriptor, MODE)
                    yield file
                    file.flush()
                    os.fsync(descriptor)
                Path(name).replace(target)
            finally:
                Path(name).unlink(missing_ok=True)
            _sync(target.parent)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Lock the directory itself for a moment, so nothing is left over; NFS has no such locks, and goes without."""
        self._make_folder(self._root)
        descriptor = os.open(self._root, os.O_RDONLY)
        try:
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def read(self, path: str) -> StoredText | None:
        """Return a small file, None if there is none. Raises CannotRunError for something else than a file."""
        try:
            # Opening a FIFO would wait for somebody who writes to it.
            with os.fdopen(os.open(self._path(path), os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise CannotRunError(f"{self._path(path)}: is not a regular file; expected one. Move it away")
                content = file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return StoredText(content, hashlib.sha256(content).hexdigest())

    def write(self, path: str, content: bytes, expected: str | None = ANYTHING) -> None:
        """Write a small file. Raises ChangedError unless the token there is `expected`; None means no file."""
        with self._errors(path), self._alone():
            there = None if expected == ANYTHING else self.read(path)
            if expected not in (ANYTHING, there.token if there else None):
                raise ChangedError(path)
            with self._replacing(path) as file:
                file.write(content)

    def upload(self, file: LocalFile) -> None:
        """Copy a file into the store. Raises ToolError if it changed after its digest was taken."""
        with self._replacing(file.file.path) as output:
            file.copy_to(output)

    def _now(self) -> float:
        """Return the time by the clock of the file system, which may be another machine's."""
        partials = self._root / PARTIAL
        if not partials.is_dir():
            return time.time()
        with tempfile.TemporaryFile(dir=partials) as file:
            return os.fstat(file.fileno()).st_mtime

    def list(self, prefix: str = "") -> Mapping[str, StoredFile]:
        """Return the files whose paths begin with a prefix; links to directories are not followed."""
        now, (base, _, start) = self._now(), prefix.rpartition("/")
        found: dict[str, StoredFile] = {}
        for folder, folders, names in os.walk(top := self._path(base)):
            is_top = folder == str(top)
            folders[:] = sorted(one for one in folders if not is_top or one.startswith(start))
            for path in (Path(folder, name) for name in sorted(names) if not is_top or name.startswith(start)):
                with suppress(FileNotFoundError):
                    there = path.lstat()
                    if stat.S_ISREG(there.st_mode):
                        found[path.relative_to(self._root).as_posix()] = StoredFile(there.st_size, now - there.st_mtime)
        return found

    def sha256(self, path: str) -> str:
        """Return the SHA-256 of the bytes that are there, in hex."""
        return file_sha256(self._path(path))

    def fetch(self, path: str, folder: Path) -> Path:
        """Return the path of a file."""
        return self._path(path)

    def delete(self, paths: Sequence[str]) -> None:
        """Delete files, and the directories that become empty."""
        for path in paths:
            with self._errors(path):
                self._path(path).unlink(missing_ok=True)
                for folder in list(Path(path).parents)[:-1]:
                    try:
                        self._path(folder.as_posix()).rmdir()
                    except OSError:
                        break

    def is_free(self, name: str) -> bool:
        """Whether nothing lies at a name of the top."""
        return not os.path.lexists(self._path(name))

    def _generation(self, stream: str) -> str:
        """Return the name of the directory with a stream's pages; empty if there is none."""
        path = self._path(stream)
        if os.path.lexists(path) and not path.is_symlink():
            raise CannotRunError(f"{path}: is not a link of this channel; the stream needs the name. Move it away")
        return str(path.readlink()) if path.is_symlink() else ""

    def pages(self, stream: str) -> Mapping[str, StoredFile]:
        """Return the pages of a stream, by their paths below it."""
        return super().pages(self._generation(stream) or stream)

    def publish(self, stream: str, serial: int, pages: Iterable[tuple[str, bytes | None]]) -> None:
        """Write all pages beside the present ones, and then let the stream, a link, lead there in one step.

        The pages before stay for clients that are reading them.
        """
        last, new = self._generation(stream), f".{stream}.{serial}"
        for path, content in pages:
            if content is not None:
                self.write(f"{new}/{path}", content)
        self._link(stream, new)
        for path in self.list(f".{stream}."):
            folder = path.partition("/")[0]
            if folder not in (last, new) and folder.removeprefix(f".{stream}.").isdigit():
                self.delete([path])

    def _link(self, stream: str, generation: str) -> None:
        with self._errors(stream), self._partials() as partials:
            link = partials / f"{stream}.{os.getpid()}"
            link.symlink_to(generation)
            link.replace(self._path(stream))
            _sync(self._root)
