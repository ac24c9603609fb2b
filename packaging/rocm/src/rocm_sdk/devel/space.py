"""How much space a development tree needs, and whether there is that much, before its first file is written."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from ..system import free_space
from .state import Content

# File systems count in blocks of this many bytes, nearly all of them.
BLOCK_BYTES = 4096
# A path is in the old and the new RECORD, and in the old and the new content, with a few characters around it.
_LISTS = 4
_CHARACTERS_AROUND = 8


@dataclass(frozen=True)
class Space:
    """What has to be free on a file system: bytes, and inodes."""

    bytes: int
    inodes: int


def need_of(content: Content) -> Space:
    """Return the space for an archive's files, directories and links, and for the two files that list them all.

    A link to another package counts as an inode: where it cannot be a hard link, it is a symbolic one.
    """
    blocks = sum(-(-size // BLOCK_BYTES) for size in content.files.values()) + len(content.directories)
    paths: list[Collection[str]] = [content.files, content.directories, content.symlinks, content.outward]
    listed = sum(len(path) + _CHARACTERS_AROUND for some in paths for path in some)
    return Space(blocks * BLOCK_BYTES + _LISTS * listed, sum(map(len, paths)))


def find_lack(directory: Path, need: Space) -> str:
    """Return a text that says what `directory`'s file system lacks for `need`; "" if there is enough.

    Only space that users without privileges may use counts.
    """
    available, inodes = free_space(directory)
    if available < need.bytes:
        return f"{need.bytes} bytes are needed, {available} are free"
    if inodes is not None and inodes < need.inodes:
        return f"{need.inodes} inodes are needed, {inodes} are free"
    return ""
