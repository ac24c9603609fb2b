"""Reads listings of a run's files: S3's XML, and HTML index pages of any web server.

Pure functions of what a server answered. A listing that is not what it should be is a ToolError that names its URL.
"""

import posixpath
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from urllib.parse import unquote, urljoin, urlsplit
from xml.etree import ElementTree

from tools.lib.common.errors import ToolError


@dataclass(frozen=True)
class Listed:
    """One file of a listing; the size in bytes is None if the listing does not tell it exactly."""

    name: str
    size: int | None = None


@dataclass(frozen=True)
class S3Page:
    """One page of S3's ListObjectsV2, and the token that asks for the next one."""

    files: list[Listed]
    token: str | None


def is_s3_listing(content: bytes) -> bool:
    """Return whether an answer is S3's listing: XML whose root is ListBucketResult."""
    return b"<ListBucketResult" in content[:1000]


def parse_s3(content: bytes, prefix: str, url: str) -> S3Page:
    """Read one page of ListObjectsV2: the files directly below `prefix`, which ends in a slash.

    Standard: the S3 API reference, "ListObjectsV2", response syntax.
    """
    # Entities are what makes XML dangerous to read; S3 uses none that are declared.
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise ToolError(f"{url}: expected a listing of S3, found XML with a document type; check --base-url")
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise ToolError(f"{url}: expected a listing of S3 as XML: {error}; check --base-url") from None
    encoded = _text(root, "EncodingType") == "url"
    files = []
    for element in _children(root, "Contents"):
        key = _text(element, "Key")
        key = unquote(key) if encoded else key
        if not key.startswith(prefix):
            raise ToolError(f"{url}: lists {key!r}, which is not below {prefix!r} as asked; check --base-url")
        name = key.removeprefix(prefix)
        if name and "/" not in name:
            size = _text(element, "Size")
            if not size.isdecimal():
                raise ToolError(f"{url}: says that {name} has {size!r} bytes; expected a number")
            files.append(Listed(name, int(size)))
    truncated = _text(root, "IsTruncated") == "true"
    token = _text(root, "NextContinuationToken") or None
    if truncated and not token:
        raise ToolError(f"{url}: a truncated listing without a continuation token (ListObjectsV2); check --base-url")
    return S3Page(files, token if truncated else None)


def parse_html(content: bytes, url: str, directory: str) -> list[Listed]:
    """Read an index page at `url`: the files that it links to directly below the URL `directory`, ending in a slash.

    nginx writes exact sizes behind the links; they are taken where they are whole numbers.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ToolError(f"{url}: expected an HTML page with links: {error}; check --base-url") from None
    page = _Links()
    page.feed(text)
    page.close()
    if not page.links:
        raise ToolError(f"{url}: expected an HTML page with links, or a listing of S3; found neither. Check --base-url")
    files: list[Listed] = []
    for href, tail in page.links:
        target = urljoin(url, href)
        path, wanted = urlsplit(target)[:3], urlsplit(directory)[:3]
        parent, name = posixpath.split(path[2])
        if href.startswith("?"):  # Apache's ways to sort the page.
            continue
        if path[:2] == wanted[:2] and unquote(parent) + "/" == unquote(wanted[2]) and name:
            sizes = tail.split()[-1:]
            files.append(Listed(unquote(name), int(sizes[0]) if sizes and sizes[0].isdecimal() else None))
    return files


def merge(files: list[Listed], url: str) -> list[Listed]:
    """Return the files sorted by name, each once. Raises ToolError if two sizes are told of one."""
    merged: dict[str, Listed] = {}
    for file in files:
        known = merged.setdefault(file.name, file)
        if None not in (known.size, file.size) and known.size != file.size:
            raise ToolError(f"{url}: says that {file.name} has {known.size} bytes, and {file.size}; check --base-url")
        if known.size is None:
            merged[file.name] = replace(known, size=file.size)
    return [merged[name] for name in sorted(merged)]


class _Links(HTMLParser):
    """Collects the targets of links, each with the text that follows it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[tuple[str, str]] = []
        self._after_link = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a link."""
        self._after_link = False
        href = dict(attrs).get("href")
        if tag == "a" and href:
            self.links.append((href, ""))

    def handle_endtag(self, tag: str) -> None:
        """Note whether what comes now follows a link."""
        self._after_link = tag == "a" and bool(self.links)

    def handle_data(self, data: str) -> None:
        """Note what follows a link."""
        if self._after_link:
            href, tail = self.links[-1]
            self.links[-1] = (href, tail + data)


def _children(element: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    """Return the children of a name, in whatever namespace: servers that stand in for S3 differ in it."""
    return [child for child in element if child.tag.rpartition("}")[2] == name]


def _text(element: ElementTree.Element, name: str) -> str:
    return next(((child.text or "").strip() for child in _children(element, name)), "")
