"""What a web server has to say of each published file: its type, and how long caches may keep it.

Pages of the simple API are known to installers by their type (PEP 691); browsers want `text/html`.
"""

import posixpath
from dataclasses import dataclass

from tools.commands.publish.files import METADATA_SUFFIX, is_page

#: Each with the types of its files. JSON pages are those of the simple API: an index has no other.
_TYPES = {
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
    content_type = _TYPES.get(posixpath.splitext(path)[1], "application/octet-stream")
    return Headers(content_type, _ASK if is_page(path) else _FOREVER)
