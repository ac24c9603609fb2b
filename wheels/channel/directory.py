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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from lib.common.command import CannotRunError
from lib.common.digest import file_sha256
from lib.common.program import ToolError, size_text
from wheels.channel.local_files import LocalFile
from wheels.channel.place import ANYTHING, ChangedError, StoredFile, StoredText

PARTIAL: Final = ".partial"
CHUNK: Final = 1 << 20
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


class DirectoryPlace:
    """A directory of this machine, which need not be there yet."""

    has_links = True

    def __init__(self, root: Path) -> None:
        """Raise CannotRunError if `root` exists and is not a directory."""
        if root.exists() and not root.is_dir():
            raise CannotRunError(f"{root}: is not a directory; expected one, or a path where nothing is yet")
        self.shown = str(root)
        self._root = root
        self._is_tidy = False

    def _path(self, path: str) -> Path:
        return self._root / path

    @contextmanager
    def _errors(self, path: str) -> Iterator[None]:
        """Raise what the file system cannot do as a ToolError with the remedy."""
        try:
            yield
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                free = size_text(shutil.disk_usage(self._root).free)
                raise CannotRunError(
                    f"{self.shown}: the disk is full: no room for {path}, {free} are free. Nothing that is listed has "
                    "changed; make room, and call this again"
                ) from None
            raise CannotRunError(
                f"{self.shown}: cannot write {path}: {error.strerror}; what is listed is whole. Mend this, and call "
                "this again"
            ) from None

    def _make_folder(self, folder: Path) -> None:
        missing = [one for one in (folder, *folder.parents) if not one.exists()]
        for one in reversed(missing):
            with suppress(FileExistsError):
                one.mkdir()
                one.chmod(FOLDER_MODE)

    @contextmanager
    def _partial(self, path: Path) -> Iterator[tuple[BinaryIO, Path]]:
        """Yield a file to fill, and its path; what has not been renamed is removed at the end."""
        self._make_folder(path.parent)
        file, partial = self._create()
        with file:
            try:
                yield file, partial
            finally:
                partial.unlink(missing_ok=True)
        _sync(path.parent)

    def _create(self) -> tuple[BinaryIO, Path]:
        """Make a file that is ours until it is closed, under a name that no other process writes to."""
        partials = self._root / PARTIAL
        self._make_folder(partials)
        if not self._is_tidy:
            self._remove_left_over(partials)
            self._is_tidy = True
        while True:
            descriptor, name = tempfile.mkstemp(dir=partials)
            file = os.fdopen(descriptor, "wb")
            fcntl.flock(file, fcntl.LOCK_EX)
            if os.fstat(file.fileno()).st_nlink:
                os.fchmod(file.fileno(), MODE)
                return file, Path(name)
            file.close()  # Before we held it, another process took it for a left-over.

    def _remove_left_over(self, partials: Path) -> None:
        """Remove partial files that nobody holds: the process that made them is gone."""
        for path in partials.iterdir():
            with suppress(OSError), path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()

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
        target = self._path(path)
        with self._errors(path), self._partial(target) as (file, partial):
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            if expected == ANYTHING:
                partial.replace(target)
                return
            with self._alone():
                there = self.read(path)
                if (there.token if there else None) != expected:
                    raise ChangedError(path)
                partial.replace(target)

    def upload(self, file: LocalFile) -> None:
        """Copy a file into the store. Raises ToolError if it changed after its digest was taken."""
        target = self._path(file.file.path)
        digest = hashlib.sha256()
        with self._errors(file.file.path), self._partial(target) as (output, partial), file.source.open("rb") as source:
            while chunk := source.read(CHUNK):
                digest.update(chunk)
                output.write(chunk)
            output.flush()
            os.fsync(output.fileno())
            if digest.hexdigest() != file.file.sha256:
                raise ToolError(f"{file.source}: changed while it was sent; call this again when the build has ended")
            partial.replace(target)

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

    def link(self, name: str, target: str) -> None:
        """Let a name of the top stand for a directory, in one step. Raises CannotRunError if it is not a link."""
        path = self._path(name)
        if os.path.lexists(path) and not path.is_symlink():
            raise CannotRunError(f"{path}: is not a link of this channel; the stream needs the name. Move it away")
        with self._errors(name):
            self._make_folder(self._root / PARTIAL)
            new = self._root / PARTIAL / f"{name}.{os.getpid()}"
            new.unlink(missing_ok=True)
            new.symlink_to(target)
            new.replace(path)
            _sync(self._root)

    def is_free(self, name: str) -> bool:
        """Whether nothing lies at a name of the top."""
        return not os.path.lexists(self._path(name))

    def links(self) -> Mapping[str, str]:
        """Return the links at the top, by name."""
        found = (path for path in self._root.iterdir() if path.is_symlink()) if self._root.is_dir() else ()
        return {path.name: str(path.readlink()) for path in found}
