"""Finds and reads the listing of one CI run, `{base}/{run id}-{platform}/`, in a bucket of S3's interface.

A listing that is not what it should be is a ToolError that names its URL.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlencode, urlsplit
from xml.etree import ElementTree

from lib.common.program import ToolError
from tools.fetch.lock.web import NotThereError, Web


@dataclass(frozen=True)
class ListedFile:
    """One file of a listing; the size is in bytes."""

    name: str
    size: int


@dataclass(frozen=True)
class S3Page:
    """One page of S3's ListObjectsV2, and the token for requesting the next page."""

    files: list[ListedFile]
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
            files.append(ListedFile(name, int(size)))
    truncated = _text(root, "IsTruncated") == "true"
    token = _text(root, "NextContinuationToken") or None
    if truncated and not token:
        raise ToolError(f"{url}: a truncated listing without a continuation token (ListObjectsV2); check --base-url")
    return S3Page(files, token if truncated else None)


def _children(element: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    """Return the children of a name, in whatever namespace: servers that stand in for S3 differ in it."""
    return [child for child in element if child.tag.rpartition("}")[2] == name]


def _text(element: ElementTree.Element, name: str) -> str:
    return next(((child.text or "").strip() for child in _children(element, name)), "")


#: Pages of a listing with 1,000 files each.
PAGES_MAX = 1000


@dataclass(frozen=True)
class CiRun:
    """One run's directory of artifacts."""

    base_url: str
    run_id: str
    platform: str

    @property
    def directory(self) -> str:
        """The directory, relative to the base, ending in a slash."""
        return f"{quote(self.run_id)}-{quote(self.platform)}/"

    @property
    def url(self) -> str:
        """The URL of the directory, ending in a slash."""
        return f"{self.base_url.rstrip('/')}/{self.directory}"

    def file_url(self, name: str) -> str:
        """Return the URL of a file of the run."""
        return self.url + quote(name)


def check_base_url(url: str) -> str:
    """Return a base URL as it may be written down; raises ToolError for one with credentials, or of a strange kind."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ToolError(f"--base-url={url}: expected a URL that begins with https:// or http://")
    if parts.username or parts.password:
        raise ToolError("--base-url: contains a user name or password, which must not be in a lock file; use ~/.netrc")
    if parts.query or parts.fragment:
        raise ToolError(f"--base-url={url}: expected a URL without '?' and '#'")
    return url.rstrip("/")


def list_run(run: CiRun, web: Web) -> list[ListedFile]:
    """List the files of a run, sorted. Raises ToolError that names all that was tried."""
    tried: list[str] = []
    for url, prefix in _s3_roots(run):
        try:
            if files := _list_s3(url, prefix, web):
                return sorted(files, key=lambda file: file.name)
            tried.append(f"{url}: nothing below {prefix!r}, or no listing of S3")
        except NotThereError as error:
            tried.append(str(error))
    raise ToolError(
        f"{run.url}: no listing of this run was found; expected a bucket that answers ListObjectsV2. Check --base-url, "
        "--run-id and --platform. Tried:\n  " + "\n  ".join(tried)
    )


def _s3_roots(run: CiRun) -> Iterator[tuple[str, str]]:
    """Yield where the bucket may begin, at the host or at any part of the base URL's path, and the prefix below it."""
    parts = urlsplit(run.base_url)
    path = [part for part in parts.path.split("/") if part]
    for count in range(len(path), -1, -1):
        root = f"{parts.scheme}://{parts.netloc}/" + "".join(f"{part}/" for part in path[:count])
        yield root, "".join(f"{part}/" for part in path[count:]) + run.directory


def _list_s3(root: str, prefix: str, web: Web) -> list[ListedFile] | None:
    """Return the files below a prefix of a bucket; None if the answer is not S3's."""
    files: list[ListedFile] = []
    token: str | None = None
    for _ in range(PAGES_MAX):
        query = {"list-type": "2", "prefix": prefix, "delimiter": "/"} | (
            {"continuation-token": token} if token else {}
        )
        url = f"{root}?{urlencode(query)}"
        content = web.read(url)
        if not is_s3_listing(content):
            if token:
                raise ToolError(f"{url}: expected the next page of a listing of S3; check the server")
            return None
        page = parse_s3(content, prefix, url)
        files += page.files
        if page.token is None:
            return files
        if page.token == token:
            raise ToolError(f"{url}: the listing repeats itself; check the server")
        token = page.token
    raise ToolError(f"{root}: the listing has more pages than {PAGES_MAX}; check --run-id")
