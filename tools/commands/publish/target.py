"""What a place to publish to can do: the one interface of directories, S3 buckets and package indexes.

A place promises two things. `put` makes a file appear whole or not at all, and never in the place of another;
`put_page` makes a page appear whole or not at all, in the place of an older one.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from tools.commands.publish.files import LocalFile
from tools.lib.common.program import ToolError

#: Called with the number of bytes that were sent since the last call; from any thread.
Sent = Callable[[int], None]


class TakenError(Exception):
    """The path has a file already; with which bytes, the caller has to find out."""


class ConflictError(ToolError):
    """What is published differs from what was to be published under the same name."""


class Target(Protocol):
    """A place to publish to. Paths are relative to it, with `/`."""

    #: How messages call it.
    place: str
    #: Whether it keeps an index by itself, in which the files of many builds add up: pages are not put there.
    keeps_index: bool

    def listing(self) -> Mapping[str, int | None]:
        """Return the path of every file that is there, with its size in bytes, or None if the place does not tell."""
        ...

    def sha256(self, path: str) -> str:
        """Return the SHA-256 of a file that is there, in hex."""
        ...

    def put(self, file: LocalFile, sent: Sent) -> None:
        """Put a file where none is. Raises TakenError where one is, and leaves that alone."""
        ...

    def put_page(self, file: LocalFile, sent: Sent) -> None:
        """Put a page, in place of an older one if there is one."""
        ...
