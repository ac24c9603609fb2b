"""Places: where a channel lies, and the one interface of directories and buckets.

A file appears whole or not at all. `write` says what it expects to be there, so one of two writers is refused.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from lib.common.command import CannotRunError
from wheels.channel.local_files import LocalFile

#: For `write`: whatever is there is replaced.
ANYTHING: Final = "*"


@dataclass(frozen=True)
class StoredText:
    """A small file that is there."""

    content: bytes
    token: str
    """Of these bytes, as `write` expects it."""


@dataclass(frozen=True)
class StoredFile:
    """A file that is there, as a listing shows it."""

    size: int
    """In bytes."""
    age: float
    """Seconds since it was written, by the clock of the place."""
    token: str = ""
    """As `write` expects it; empty if the place does not list it."""


class ChangedError(Exception):
    """A file is not what a writer expected: somebody else has written it."""


class Place(ABC):
    """A place. Paths are relative to it, with `/`."""

    shown: str
    """Its name in messages."""
    is_ordered = True
    """Whether `publish` replaces the pages of a stream one by one, and not all at once."""

    @abstractmethod
    def read(self, path: str) -> StoredText | None:
        """Return a small file, None if there is none."""

    @abstractmethod
    def write(self, path: str, content: bytes, expected: str | None = ANYTHING) -> None:
        """Write a small file. Raises ChangedError unless the token there is `expected`; None means no file."""

    @abstractmethod
    def upload(self, file: LocalFile) -> None:
        """Put a file into the store. Raises ToolError if it changed meanwhile."""

    @abstractmethod
    def list(self, prefix: str = "") -> Mapping[str, StoredFile]:
        """Return the files whose paths begin with a prefix."""

    @abstractmethod
    def sha256(self, path: str) -> str:
        """Return the SHA-256 of the bytes that are there, in hex."""

    @abstractmethod
    def fetch(self, path: str, folder: Path) -> Path:
        """Return where a file is on this machine; in `folder` if it had to be fetched.

        What is missing raises FileNotFoundError, here or when it is opened.
        """

    @abstractmethod
    def delete(self, paths: Sequence[str]) -> None:
        """Delete files that are there, or not any more."""

    def is_free(self, name: str) -> bool:
        """Whether no file is below the directory `name` at the top."""
        return not self.list(f"{name}/")

    def pages(self, stream: str) -> Mapping[str, StoredFile]:
        """Return the pages of a stream, by their paths below it."""
        return {path.removeprefix(f"{stream}/"): one for path, one in self.list(f"{stream}/").items()}

    def publish(self, stream: str, serial: int, pages: Iterable[tuple[str, bytes | None]]) -> None:
        """Replace all pages of a stream, in their order, for the change with this serial; None is for those that go."""
        there = self.pages(stream)
        for path, content in pages:
            if content is None:
                self.delete([f"{stream}/{path}"])
            else:
                self.write(f"{stream}/{path}", content, there[path].token if path in there else None)


def make_place(text: str, endpoint_url: str = "") -> Place:
    """Return the place that a command line names. Raises CannotRunError for what names none.

    The client of S3 takes longer to load than a directory to compare, so it is imported when it is needed.
    """
    url, parts = urlsplit(text), urlsplit(endpoint_url)
    if endpoint_url and (parts.scheme not in ("http", "https") or not parts.hostname or parts.username):
        raise CannotRunError(f"--endpoint-url={endpoint_url}: expected https://HOST, without credentials")
    if endpoint_url and url.scheme != "s3":
        raise CannotRunError(f"--channel={text}: --endpoint-url belongs to s3://BUCKET")
    if url.scheme in ("http", "https"):
        from wheels.channel.web import WebPlace

        return WebPlace(text)
    if url.scheme == "s3":
        name, _, prefix = text.removeprefix("s3://").partition("/")
        prefix = prefix.strip("/")
        if name and (not prefix or not {"", ".", ".."} & set(prefix.split("/"))):
            from wheels.channel.bucket import BucketPlace

            return BucketPlace(name, prefix, endpoint_url)
    if text and not re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", text):
        from wheels.channel.directory import DirectoryPlace

        return DirectoryPlace(Path(text))
    raise CannotRunError(f"--channel={text}: expected a directory, https://HOST/PATH or s3://BUCKET/PREFIX")
