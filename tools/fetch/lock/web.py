"""Reads URLs, `http:`, `https:` and `file:`, with retries and through the proxies that the environment names.

The digest of an archive is in the `.sha256sum` beside it, or is computed from the archive itself.
"""

import hashlib
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.exceptions import HTTPError

from lib.common.command import FoundError
from lib.common.program import ToolError

#: Bytes that a listing or a checksum may have at most.
SMALL = 64 << 20
CHUNK = 1 << 20
#: How often a download that breaks off is begun again.
ATTEMPTS = 4
#: How often a connection that cannot be made is tried again.
_RETRIES = urllib3.Retry(total=5, backoff_factor=0.3, respect_retry_after_header=False)
#: The server may answer otherwise in a while. So many seconds pass before it is asked again, or as many as it says.
_BUSY = (429, 500, 502, 503, 504)
_WAITS = (0.0, 0.6, 1.2, 2.4, 4.8)
_LONGEST_WAIT = 60.0


class NotThereError(ToolError):
    """The server says that there is no such file, or that it may not be read."""


@dataclass(frozen=True)
class ArchiveDigest:
    """Digest and size of a whole file, in bytes."""

    sha256: str
    size: int


def local_path(url: str) -> Path | None:
    """Return the path that a `file:` URL names; None for other URLs."""
    parts = urlsplit(url)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


class Web:
    """A pool of connections; may be used by several threads."""

    def __init__(self) -> None:
        self._pools: dict[str, urllib3.PoolManager] = {}

    def read(self, url: str) -> bytes:
        """Return the whole of a small file. Raises NotThereError, ToolError."""
        content = b"".join(self._chunks(url, SMALL))
        if len(content) > SMALL:
            raise ToolError(f"{url}: more than {SMALL} bytes; expected a listing or a checksum. Check --base-url")
        return content

    def size(self, url: str) -> int:
        """Return how many bytes a file has, without reading it. Raises NotThereError, ToolError."""
        if path := local_path(url):
            with _local_errors(url):
                return path.stat().st_size
        with self._request("HEAD", url) as response:
            text = response.headers.get("Content-Length", "")
        if not text.isdecimal():
            raise ToolError(f"{url}: the server sends Content-Length {text!r}; expected the size in bytes")
        return int(text)

    def digest(self, url: str) -> ArchiveDigest:
        """Read a whole file of any size and return its digest. Raises NotThereError, ToolError."""
        for attempt in range(ATTEMPTS):
            sha256, size = hashlib.sha256(), 0
            try:
                for chunk in self._chunks(url):
                    sha256.update(chunk)
                    size += len(chunk)
            except HTTPError as error:
                if attempt + 1 == ATTEMPTS:
                    raise ToolError(f"{url}: broke off after {size} bytes, {ATTEMPTS} times: {error}") from None
                continue
            break
        return ArchiveDigest(sha256.hexdigest(), size)

    def _chunks(self, url: str, limit: int | None = None) -> Iterator[bytes]:
        """Yield a file's bytes, up to slightly more than `limit`."""
        size = 0
        if path := local_path(url):
            with _local_errors(url), path.open("rb") as file:
                while (limit is None or size <= limit) and (chunk := file.read(CHUNK)):
                    size += len(chunk)
                    yield chunk
            return
        with self._request("GET", url) as response:
            for chunk in response.stream(CHUNK, decode_content=False):
                size += len(chunk)
                yield chunk
                if limit is not None and size > limit:
                    break

    @contextmanager
    def _request(self, method: str, url: str) -> Iterator[urllib3.BaseHTTPResponse]:
        try:
            response = self._answer(method, url)
        except HTTPError as error:
            raise ToolError(f"{url}: cannot be reached: {error}. Check --base-url, and the network") from None
        try:
            if response.status in (403, 404, 410):
                raise NotThereError(f"{url}: the server answers {response.status} {response.reason}")
            if response.status != 200:
                raise ToolError(f"{url}: the server answers {response.status} {response.reason}; expected 200")
            yield response
        finally:
            response.close()

    def _answer(self, method: str, url: str) -> urllib3.BaseHTTPResponse:
        """Return the final answer: follow redirections, and ask again while the server is busy.

        urllib3 could do this, too, but it reads the whole body of each redirection, however long it is.
        """
        headers = {"Accept-Encoding": "identity", "User-Agent": "rules_rocm_python"}
        place, waits = url, iter(_WAITS)
        while True:
            response = self._pool(place).request(
                method,
                place,
                preload_content=False,
                redirect=False,
                retries=_RETRIES,
                timeout=urllib3.Timeout(30),
                headers=headers,
            )
            location = response.get_redirect_location()
            if not location and response.status not in _BUSY:
                return response
            wait = next(waits, None)
            if wait is None:
                return response
            response.close()
            if location:
                place = urljoin(place, location)
            else:
                time.sleep(min(_RETRIES.get_retry_after(response) or wait, _LONGEST_WAIT))

    def _pool(self, url: str) -> urllib3.PoolManager:
        parts = urlsplit(url)
        proxies = getproxies()
        proxy = proxies.get(parts.scheme) or proxies.get("all") or ""
        if proxy_bypass(parts.hostname or ""):
            proxy = ""
        if proxy not in self._pools:
            pool = urllib3.ProxyManager(proxy, maxsize=16) if proxy else urllib3.PoolManager(maxsize=16)
            self._pools[proxy] = pool
        return self._pools[proxy]


@contextmanager
def _local_errors(url: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise NotThereError(f"{url}: there is no such file") from None
    except OSError as error:
        raise ToolError(f"{url}: {error.strerror}") from None


SUFFIX = ".sha256sum"


def parse_sha256sum(text: str, name: str, url: str) -> str:
    """Read what `sha256sum FILE` prints; return the digest in hex. Raises ToolError if it is not of that file."""
    match = re.fullmatch(r"([0-9a-fA-F]{64})(?: [ *]([^\n]+))?\n?", text)
    if not match:
        raise ToolError(f"{url}: expected one line like '{'0' * 8}…  {name}', found {text[:100]!r}")
    if match[2] and match[2].rpartition("/")[2] != name:
        raise FoundError(f"{url}: has the digest of {match[2]!r}; expected the digest of {name}")
    return match[1].lower()


def digest_of(
    url: str, name: str, size: int | None, web: Web, *, download_missing: bool, verify: bool
) -> ArchiveDigest:
    """Return digest and size of an archive at `url`; `size` is what the listing says, if it does.

    The archive itself is read only to verify, or if there is no checksum and `download_missing`. Raises ToolError if
    there is none, and where listing, checksum, server and archive contradict each other.
    """
    said = _said(url, name, web)
    if said is None and not download_missing:
        raise ToolError(f"{url}{SUFFIX}: not found; use --download-missing to download {name} and compute its SHA-256")
    found = web.digest(url) if verify or said is None else None
    actual = found.size if found else size if size is not None else web.size(url)
    if size not in (None, actual):
        raise FoundError(f"{url}: has {actual} bytes; the listing says {size}. Run it again when the upload is done")
    if found and said not in (None, found.sha256):
        raise FoundError(f"{url}: has the SHA-256 {found.sha256}; {name}{SUFFIX} says {said}. The upload is damaged")
    if found:
        return found
    assert said is not None
    return ArchiveDigest(said, actual)


def _said(url: str, name: str, web: Web) -> str | None:
    try:
        content = web.read(url + SUFFIX)
    except NotThereError:
        return None
    return parse_sha256sum(content.decode("utf-8", "replace"), name, url + SUFFIX)
