"""What a package index has of a project: the simple repository API as clients see it (PEP 503, PEP 691).

Indexes answer as JSON or as HTML, whichever they know. `IndexClient` asks them, and sends credentials to
no other host than the index's.
"""

import html.parser
import ipaddress
import json
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import urllib3

from lib.common.program import ToolError

#: As PEP 691 recommends: what is preferred, what is understood.
ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
#: How indexes answer who may not read: 401, 403 (RFC 9110), and 404 of those that do not tell what they have.
REFUSED = frozenset((401, 403, 404))
RETRIES = urllib3.Retry(total=5, backoff_factor=0.5, status_forcelist=(429, 500, 502, 503, 504))


@dataclass(frozen=True)
class IndexFile:
    """A file that an index has."""

    url: str
    #: In hex; None where the index has another digest.
    sha256: str | None


@dataclass(frozen=True)
class Origin:
    """Who answers at a URL (RFC 6454)."""

    scheme: str
    host: str
    port: int | None

    @classmethod
    def of(cls, url: str) -> "Origin":
        """Return the origin of a URL; a URL without a port has the scheme's port.

        The URL is parsed by what connects to it: parsers differ about what is the host. Raises urllib3's HTTPError.
        """
        parts = urllib3.util.parse_url(url)
        scheme, host = parts.scheme or "", (parts.host or "").strip("[]")
        return cls(scheme, host, parts.port or {"http": 80, "https": 443}.get(scheme))

    @property
    def is_private(self) -> bool:
        """Whether nobody on the way can read what is sent there: over TLS, or to this machine."""
        if self.scheme == "https" or self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


class IndexClient:
    """Asks an index for pages, and whoever its pages name for files.

    Credentials go to the index's own origin alone, and only with a request that was not answered without them: it was
    refused, or, for a page, sent elsewhere, as to a page for logging in. A redirect to another origin is followed
    without them, as urllib3 does.
    """

    def __init__(self, index_url: str, login: Mapping[str, str]) -> None:
        """Ask the index at `index_url`, whose simple API that is; `login` are headers with credentials, if any."""
        self.index_url = index_url.rstrip("/")
        self._login = dict(login)
        self._origin = Origin.of(index_url)
        self._pool = urllib3.PoolManager()

    def get(self, url: str, headers: Mapping[str, str], *, preload: bool = True) -> urllib3.BaseHTTPResponse:
        """Return the answer; raises urllib3's HTTPError. Without `preload` its body is to be streamed."""
        answer = self._request(url, headers, preload)
        told = self._login and self._origin.is_private and Origin.of(url) == self._origin
        is_answered = answer.status not in REFUSED and not (preload and _answered_by(answer, url) != url)
        if is_answered or not told:
            return answer
        answer.drain_conn()
        return self._request(url, {**headers, **self._login}, preload)

    def _request(self, url: str, headers: Mapping[str, str], preload: bool) -> urllib3.BaseHTTPResponse:
        return self._pool.request("GET", url, headers=headers, preload_content=preload, retries=RETRIES)


def _answered_by(answer: urllib3.BaseHTTPResponse, url: str) -> str:
    """Return the URL that answered a request for a URL, after all redirects."""
    return urljoin(url, answer.geturl() or "")


class _Links(html.parser.HTMLParser):
    """Collects the targets of all links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the target of a link."""
        self.found += [value for name, value in attrs if tag == "a" and name == "href" and value]


def _entry(url: str) -> tuple[str, IndexFile]:
    address, fragment = urldefrag(url)
    algorithm, _, digest = fragment.partition("=")
    name = unquote(posixpath.basename(urlsplit(address).path))
    return name, IndexFile(address, digest.lower() if algorithm == "sha256" else None)


def parse_page(text: str, content_type: str, url: str) -> dict[str, IndexFile]:
    """Read a project's page, by file name. Raises ToolError if it is not a page of the API."""
    kind = content_type.partition(";")[0].strip().lower()
    is_html = kind in ("text/html", "application/vnd.pypi.simple.v1+html")
    if not is_html and kind != "application/vnd.pypi.simple.v1+json":
        shown = f"has the content type {kind}" if kind else "has no content type"
        raise ToolError(f"{url}: {shown}; expected a project's page of the simple API, JSON or HTML")
    try:
        if is_html:
            return dict(_entry(urljoin(url, link)) for link in _Links(text).found)
        files = json.loads(text)["files"]
        return {one["filename"]: IndexFile(urljoin(url, one["url"]), one["hashes"].get("sha256")) for one in files}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        form = "HTML (PEP 503)" if is_html else "JSON (PEP 691)"
        raise ToolError(f"{url}: is not a project's page of the simple API in {form}: {error!r}") from None


def project_files(client: IndexClient, project: str) -> dict[str, IndexFile]:
    """Return the files that an index has for a project, by file name; nothing if it does not know the project.

    Raises ToolError if the index cannot be reached, or answers with anything else.
    """
    url = f"{client.index_url}/{project}/"
    try:
        answer = client.get(url, {"Accept": ACCEPT})
    except urllib3.exceptions.HTTPError as error:
        raise ToolError(f"{url}: cannot be read: {error}; check --index-url") from None
    final = _answered_by(answer, url)
    # Some indexes send clients to another one for projects that they do not know.
    if answer.status == 404 or Origin.of(final).host != Origin.of(url).host:
        return {}
    if answer.status in (401, 403):
        raise ToolError(
            f"{url}: status {answer.status}; expected to be let in, with UV_PUBLISH_TOKEN, or UV_PUBLISH_USERNAME and "
            "UV_PUBLISH_PASSWORD, which the index is sent if --upload-url has its scheme, host and port"
        )
    if answer.status != 200:
        raise ToolError(
            f"{url}: status {answer.status}; expected a project's page of the simple API; check --index-url"
        )
    files = parse_page(answer.data.decode("utf-8", "replace"), answer.headers.get("Content-Type", ""), final)
    if not files and final != url:
        raise ToolError(
            f"{url}: leads to {final}, a page without files; expected a project's page. Check --index-url, and that "
            "the credentials are for this index"
        )
    return files
