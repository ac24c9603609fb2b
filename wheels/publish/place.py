"""Places to publish to: how they are named, and the one interface of directories, S3 buckets and package indexes.

A place promises two things. `put` makes a file appear whole or not at all, and never in the place of another;
`put_page` makes a page appear whole or not at all, in the place of an older one.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from lib.common.command import FoundError
from lib.common.program import ToolError
from wheels.publish.files import LocalFile

#: Called with the number of bytes that were sent since the last call; from any thread.
Sent = Callable[[int], None]


class TakenError(Exception):
    """The path has a file already; with which bytes, the caller has to find out."""


class ConflictError(FoundError):
    """What is published differs from what was to be published under the same name."""


class Place(Protocol):
    """A place to publish to. Paths are relative to it, with `/`."""

    #: How messages call it.
    shown: str
    #: Whether it keeps an index by itself, in which the files of many builds add up: pages are not put there.
    keeps_index: bool

    def tidy(self) -> None:
        """Remove what interrupted runs left, where that could be seen; of what others are sending, nothing."""
        ...

    def listing(self) -> Mapping[str, int | None]:
        """Return the path of every file that is there, with its size in bytes, or None if the place does not tell."""
        ...

    def sha256(self, path: str) -> str:
        """Return the SHA-256 of a file that is there, in hex."""
        ...

    def put(self, file: LocalFile, sent: Sent) -> None:
        """Put a file where none is. Raises TakenError where one is, and leaves that alone."""
        ...

    def only_publisher(self) -> AbstractContextManager[None]:
        """Return what is entered while pages are put: it waits for other publishers, where the place can do that."""
        ...

    def put_page(self, file: LocalFile, sent: Sent) -> None:
        """Put a page, instead of an older one if there is one."""
        ...


#: What may be part of a path in every kind of place, and of a URL without being quoted.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


def _plain(option: str, value: str, example: str) -> str:
    if not _PLAIN.fullmatch(value):
        raise ToolError(f"{option}={value}: expected letters, digits, and ._+- behind the first, like {example}")
    return value


def run_directory(run_id: str, platform: str, group: str) -> str:
    """Return the directory of a run's packages, relative to the place, or "" without a run id.

    Raises ToolError for what cannot be part of a path, and for a group that belongs to no run.
    """
    if not run_id:
        if group:
            raise ToolError(f"--group={group}: a group is a part of a run; also name the run, with --run-id")
        return ""
    run = f"{_plain('--run-id', run_id, '21440027240')}-{_plain('--platform', platform, 'linux')}"
    return f"{run}/python" + (f"/{_plain('--group', group, 'gfx110X-all')}" if group else "")


@dataclass(frozen=True)
class Bucket:
    """A place in an S3 bucket."""

    name: str
    #: Of all keys; without `/` at either end, maybe empty.
    prefix: str


def parse_bucket(url: str) -> Bucket:
    """Read `s3://bucket/prefix`. Raises ToolError for what does not name a bucket."""
    name, _, prefix = url.removeprefix("s3://").partition("/")
    if not name or any(part in ("", ".", "..") for part in prefix.strip("/").split("/") if prefix.strip("/")):
        raise ToolError(f"--to={url}: expected s3://BUCKET or s3://BUCKET/PREFIX")
    return Bucket(name, prefix.strip("/"))


def parse_directory(text: str, base: Path) -> Path:
    """Read a path, relative to `base`, or a `file:` URL of this machine (RFC 8089). Raises ToolError for other URLs."""
    if text.startswith("file:"):
        url = urlsplit(text)
        if url.netloc not in ("", "localhost") or not url.path.startswith("/"):
            raise ToolError(f"--to={text}: expected file:///ABSOLUTE/PATH, a directory of this machine")
        return Path(unquote(url.path))
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", text):
        raise ToolError(f"--to={text}: expected a directory, file:///PATH, s3://BUCKET/PREFIX, or index")
    return base / text


def check_url(option: str, url: str) -> str:
    """Return a URL as it is. Raises ToolError if it is not a URL, or contains a password."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ToolError(f"{option}={url}: expected a URL, https://HOST/PATH")
    if parts.username or parts.password:
        raise ToolError(
            f"{option}: has credentials in it, which others on this machine can see; "
            "put them into the environment, see --help"
        )
    return url
