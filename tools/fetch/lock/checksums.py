"""The digests of archives: of the `.sha256sum` files beside them, or of the archives themselves."""

import re

from tools.fetch.lock.web import Digest, NotThereError, Web
from tools.lib.common.errors import ToolError

SUFFIX = ".sha256sum"


def parse_sha256sum(text: str, name: str, url: str) -> str:
    """Read what `sha256sum FILE` prints; return the digest in hex. Raises ToolError if it is not of that file."""
    match = re.fullmatch(r"([0-9a-fA-F]{64})(?: [ *]([^\n]+))?\n?", text)
    if not match:
        raise ToolError(f"{url}: expected one line like '{'0' * 8}…  {name}', found {text[:100]!r}")
    if match[2] and match[2].rpartition("/")[2] != name:
        raise ToolError(f"{url}: has the digest of {match[2]!r}; expected that of {name}")
    return match[1].lower()


def digest_of(url: str, name: str, size: int | None, web: Web, *, download_missing: bool, verify: bool) -> Digest:
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
        raise ToolError(f"{url}: has {actual} bytes; the listing says {size}. Run it again when the upload is done")
    if found and said not in (None, found.sha256):
        raise ToolError(f"{url}: has the SHA-256 {found.sha256}; {name}{SUFFIX} says {said}. The upload is damaged")
    if found:
        return found
    assert said is not None
    return Digest(said, actual)


def _said(url: str, name: str, web: Web) -> str | None:
    try:
        content = web.read(url + SUFFIX)
    except NotThereError:
        return None
    return parse_sha256sum(content.decode("utf-8", "replace"), name, url + SUFFIX)
