"""Reads listings and checksums from web servers, with retries and through the proxies that the environment names."""

import re
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.exceptions import HTTPError

from lib.common.command import FoundError
from lib.common.program import ToolError

#: Bytes that a listing or a checksum may have at most.
SMALL: Final = 64 << 20
CHUNK: Final = 1 << 20
#: How often a server is asked again that cannot be reached, or says that it is busy.
_RETRIES = urllib3.Retry(
    total=5,
    backoff_factor=0.6,
    raise_on_status=False,
    respect_retry_after_header=False,
    status_forcelist=(429, 500, 502, 503, 504),
)
#: What the name of an archive's checksum has behind the archive's.
SUFFIX: Final = ".sha256sum"


class NotThereError(ToolError):
    """The server says that there is no such file, or that it may not be read."""


class Web:
    """A pool of connections; may be used by several threads."""

    def __init__(self) -> None:
        self._pools: dict[str, urllib3.PoolManager] = {}

    def read(self, url: str) -> bytes:
        """Return the whole of a small file. Raises NotThereError, ToolError."""
        headers = {"Accept-Encoding": "identity", "User-Agent": "rules_rocm_python"}
        try:
            response = self._pool(url).request(
                "GET", url, headers=headers, preload_content=False, retries=_RETRIES, timeout=urllib3.Timeout(30)
            )
            try:
                return self._content(url, response)
            finally:
                response.close()
        except HTTPError as error:
            raise ToolError(f"{url}: cannot be read: {error}. Check --base-url, and the network") from None

    @staticmethod
    def _content(url: str, response: urllib3.BaseHTTPResponse) -> bytes:
        if response.status in (403, 404, 410):
            raise NotThereError(f"{url}: the server answers {response.status} {response.reason}")
        if response.status != 200:
            raise ToolError(f"{url}: the server answers {response.status} {response.reason}; expected 200")
        content = b""
        for chunk in response.stream(CHUNK, decode_content=False):
            content += chunk
            if len(content) > SMALL:
                raise ToolError(f"{url}: more than {SMALL} bytes; expected a listing or a checksum. Check --base-url")
        return content

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


def parse_sha256sum(text: str, name: str, url: str) -> str:
    """Read what `sha256sum FILE` prints; return the digest in hex. Raises ToolError if it is not of that file."""
    match = re.fullmatch(r"([0-9a-fA-F]{64})(?: [ *]([^\n]+))?\n?", text)
    if not match:
        raise ToolError(f"{url}: expected one line like '{'0' * 8}…  {name}', found {text[:100]!r}")
    if match[2] and match[2].rpartition("/")[2] != name:
        raise FoundError(f"{url}: has the digest of {match[2]!r}; expected the digest of {name}")
    return match[1].lower()


def read_sha256sum(url: str, name: str, web: Web) -> str:
    """Return the digest of the archive at `url`, in hex, from the checksum beside it. Raises ToolError."""
    try:
        content = web.read(url + SUFFIX)
    except NotThereError as error:
        raise ToolError(f"{error}; expected the checksum of {name}. Upload what sha256sum prints of it") from None
    return parse_sha256sum(content.decode("utf-8", "replace"), name, url + SUFFIX)
