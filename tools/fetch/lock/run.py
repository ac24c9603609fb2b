"""Finds the files of one CI run, wherever they are listed: `{base}/{run id}-{platform}/`."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote, urlencode, urlsplit

from tools.fetch.lock.listing import Listed, is_s3_listing, merge, parse_html, parse_s3
from tools.fetch.lock.web import NotThereError, Web, local_path
from tools.lib.common.errors import ToolError

#: Pages of a listing with 1,000 files each.
PAGES_MAX = 1000


@dataclass(frozen=True)
class Run:
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
    if parts.scheme not in ("http", "https", "file") or (parts.scheme != "file" and not parts.hostname):
        raise ToolError(f"--base-url={url}: expected a URL that begins with https://, http:// or file:///")
    if parts.username or parts.password:
        raise ToolError("--base-url: contains a user name or password, which must not be in a lock file; use ~/.netrc")
    if parts.query or parts.fragment:
        raise ToolError(f"--base-url={url}: expected a URL without '?' and '#'")
    return url.rstrip("/")


def list_run(run: Run, group: str | None, web: Web) -> list[Listed]:
    """List the files of a run, sorted. Raises ToolError that names all that was tried.

    Tried are a directory (`file:`), S3's ListObjectsV2, and HTML: the page of a group as CI uploads it, that of the
    directory, and its `index.html`.
    """
    if path := local_path(run.url):
        if not path.is_dir():
            raise ToolError(f"{run.url}: there is no such directory; check --base-url, --run-id and --platform")
        return [Listed(file.name, file.stat().st_size) for file in sorted(path.iterdir()) if file.is_file()]
    tried: list[str] = []
    for url, prefix in _s3_roots(run):
        try:
            if files := _list_s3(url, prefix, web):
                return merge(files, url)
            tried.append(f"{url}: nothing below {prefix!r}, or no listing of S3")
        except NotThereError as error:
            tried.append(str(error))
    for page in ([f"index-{quote(group)}.html"] if group else []) + ["", "index.html"]:
        url = run.url + page
        try:
            return merge(parse_html(web.read(url), url, run.url), url)
        except NotThereError as error:
            tried.append(str(error))
    raise ToolError(
        f"{run.url}: no listing of this run was found; check --base-url, --run-id and --platform. Tried:\n  "
        + "\n  ".join(tried)
    )


def _s3_roots(run: Run) -> Iterator[tuple[str, str]]:
    """Yield where the bucket may begin, at the host or at any part of the base URL's path, and the prefix below it."""
    parts = urlsplit(run.base_url)
    path = [part for part in parts.path.split("/") if part]
    for count in range(len(path), -1, -1):
        root = f"{parts.scheme}://{parts.netloc}/" + "".join(f"{part}/" for part in path[:count])
        yield root, "".join(f"{part}/" for part in path[count:]) + run.directory


def _list_s3(root: str, prefix: str, web: Web) -> list[Listed] | None:
    """Return the files below a prefix of a bucket; None if the answer is not S3's."""
    files: list[Listed] = []
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
    raise ToolError(f"{root}: a listing of more than {PAGES_MAX} pages; check --run-id")
