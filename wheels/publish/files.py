"""The files to publish: the files in a directory that `sdk_index` made, their digests, and how servers serve them.

Distributions, their core metadata and lists of wheel variants never change once they are published: lock files and
caches have their hashes. All other files are pages of the index, which may change. Pages of the simple API are known to
installers by their type (PEP 691); browsers want `text/html`.
"""

import os
import posixpath
from dataclasses import dataclass
from pathlib import Path

from lib.common.digest import file_sha256
from lib.common.program import ToolError
from lib.variants.variant_format import INDEX_SUFFIX, split_label

DISTRIBUTION_SUFFIXES = (".whl", ".tar.gz")
#: What PEP 658 has behind the name of a distribution whose core metadata it is.
METADATA_SUFFIX = ".metadata"


def is_distribution(path: str) -> bool:
    """Whether a path names a wheel or an sdist."""
    return path.endswith(DISTRIBUTION_SUFFIXES)


def is_variant(path: str) -> bool:
    """Whether a path names a wheel variant."""
    return split_label(posixpath.basename(path))[1] != ""


def is_uploaded(path: str) -> bool:
    """Whether a distribution goes to an index that makes its pages by itself.

    What lies in a directory of its own is for an index of its own: beside the rest, installers would prefer it. Such
    indexes, and uv, refuse the names of wheel variants.
    """
    return is_distribution(path) and "/" not in path and not is_variant(path)


def is_page(path: str) -> bool:
    """Whether a path names a file that may change after it was published."""
    return not is_distribution(path.removesuffix(METADATA_SUFFIX)) and not path.endswith(INDEX_SUFFIX)


@dataclass(frozen=True)
class LocalFile:
    """One file to publish."""

    #: Relative to the directory, with `/`; the same where it is published.
    path: str
    #: Where it is now.
    source: Path
    #: In bytes.
    size: int
    #: In hex.
    sha256: str


def read_files(directory: Path) -> list[LocalFile]:
    """Read all files of a directory, sorted by path. Raises ToolError if it is not what `sdk_index` makes."""
    root = directory.resolve()
    if not root.is_dir():
        raise ToolError(f"{directory}: there is no such directory; build the index first")
    found = []
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            source = Path(folder, name)
            path = source.relative_to(root).as_posix()
            found.append(LocalFile(path, source, source.stat().st_size, file_sha256(source)))
    if not any(is_distribution(file.path) for file in found):
        raise ToolError(f"{directory}: contains no wheel and no sdist; expected the directory of an `sdk_index`")
    if not any(is_page(file.path) for file in found):
        raise ToolError(f"{directory}: contains no page of an index; expected the directory of an `sdk_index`")
    return sorted(found, key=lambda file: file.path)


def page_order(file: LocalFile) -> tuple[int, str]:
    """Sort key of pages: those that lead to others come after them, the page at the top last of all."""
    return -file.path.count("/"), file.path


#: Each with the types of its files. Other JSON files than lists of wheel variants are pages of the simple API.
_TYPES = {
    INDEX_SUFFIX: "application/json",
    ".css": "text/css; charset=utf-8",
    ".gz": "application/gzip",
    ".html": "text/html; charset=utf-8",
    ".json": "application/vnd.pypi.simple.v1+json",
    ".js": "text/javascript; charset=utf-8",
    METADATA_SUFFIX: "text/plain; charset=utf-8",
    ".svg": "image/svg+xml",
    ".whl": "application/zip",
}
#: A published file never changes. A year is the longest that RFC 9111's predecessors allowed; `immutable` is RFC 8246.
_FOREVER = "public, max-age=31536000, immutable"
#: Pages may be kept, but caches ask each time whether they are current (RFC 9111, 5.2.2.4).
_ASK = "no-cache"


@dataclass(frozen=True)
class Headers:
    """Values of the HTTP header fields that a file is served with."""

    content_type: str
    cache_control: str


def headers(path: str) -> Headers:
    """Return what a file is to be served with."""
    kind = INDEX_SUFFIX if path.endswith(INDEX_SUFFIX) else posixpath.splitext(path)[1]
    content_type = _TYPES.get(kind, "application/octet-stream")
    return Headers(content_type, _ASK if is_page(path) else _FOREVER)
