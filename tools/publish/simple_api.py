"""What a package index has of a project: the simple repository API as clients see it (PEP 503, PEP 691).

Indexes answer as JSON or as HTML, whichever they know.
"""

import html.parser
import json
import posixpath
from dataclasses import dataclass
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import urllib3

from tools.common.errors import ToolError

#: As PEP 691 recommends: what is preferred, what is understood.
ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
RETRIES = urllib3.Retry(total=5, backoff_factor=0.5, status_forcelist=(429, 500, 502, 503, 504))


@dataclass(frozen=True)
class IndexFile:
    """A file that an index has."""

    url: str
    #: In hex; None where the index has another digest.
    sha256: str | None


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
    """Read a project's page, by file name. Raises ToolError if it is none."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind in ("text/html", "application/vnd.pypi.simple.v1+html"):
        return dict(_entry(urljoin(url, link)) for link in _Links(text).found)
    if kind != "application/vnd.pypi.simple.v1+json":
        raise ToolError(f"{url}: is {kind or 'of no type'}; expected a project's page of the simple API, JSON or HTML")
    try:
        files = json.loads(text)["files"]
        return {one["filename"]: IndexFile(urljoin(url, one["url"]), one["hashes"].get("sha256")) for one in files}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ToolError(f"{url}: is no project's page of the simple API in JSON (PEP 691): {error!r}") from None


def project_files(client: urllib3.PoolManager, index_url: str, project: str) -> dict[str, IndexFile]:
    """Return what an index has of a project, by file name; nothing if it does not know the project.

    Raises ToolError if the index cannot be reached, or answers otherwise.
    """
    url = f"{index_url.rstrip('/')}/{project}/"
    try:
        answer = client.request("GET", url, headers={"Accept": ACCEPT}, retries=RETRIES)
    except urllib3.exceptions.HTTPError as error:
        raise ToolError(f"{url}: cannot be read: {error}; check --index-url") from None
    final = urljoin(url, answer.geturl() or "")
    # Some indexes send clients to another one for projects that they do not know.
    if answer.status == 404 or urlsplit(final).hostname != urlsplit(url).hostname:
        return {}
    if answer.status != 200:
        raise ToolError(
            f"{url}: status {answer.status}; expected a project's page of the simple API; check --index-url"
        )
    return parse_page(answer.data.decode("utf-8", "replace"), answer.headers.get("Content-Type", ""), final)
