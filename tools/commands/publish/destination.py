"""Where packages go below the place that was named: as CI uploads lay them out.

    {run_id}-{platform}/python/{group}/     the packages of one group of GPU targets
    {run_id}-{platform}/python/             those of a build for all of them

TheRock's CI puts the artifacts of the same run at `{run_id}-{platform}/`, and its tools expect packages there. Without
a run id the place itself is filled.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tools.lib.common.program import ToolError

#: What may be part of a path in every kind of place, and of a URL without being quoted.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


def _plain(option: str, value: str, example: str) -> str:
    if not _PLAIN.fullmatch(value):
        raise ToolError(f"{option}={value}: expected letters, digits, and ._+- behind the first, like {example}")
    return value


def run_directory(run_id: str, platform: str, group: str) -> str:
    """Return the directory of a run's packages, relative to the place, or "" without a run id.

    Raises ToolError for what cannot be part of a path, and for a group that belongs to no run.
    """
    if not run_id:
        if group:
            raise ToolError(f"--group={group}: a group is a part of a run; name the run as well, with --run-id")
        return ""
    run = f"{_plain('--run-id', run_id, '21440027240')}-{_plain('--platform', platform, 'linux')}"
    return f"{run}/python" + (f"/{_plain('--group', group, 'gfx110X-all')}" if group else "")


@dataclass(frozen=True)
class Bucket:
    """A place in an S3 bucket."""

    name: str
    #: Of all keys; without `/` at either end, maybe empty.
    prefix: str


def parse_bucket(url: str) -> Bucket:
    """Read `s3://bucket/prefix`. Raises ToolError for what does not name a bucket."""
    name, _, prefix = url.removeprefix("s3://").partition("/")
    if not name or any(part in ("", ".", "..") for part in prefix.strip("/").split("/") if prefix.strip("/")):
        raise ToolError(f"--to={url}: expected s3://BUCKET or s3://BUCKET/PREFIX")
    return Bucket(name, prefix.strip("/"))


def parse_directory(text: str, base: Path) -> Path:
    """Read a path, relative to `base`, or a `file:` URL of this machine (RFC 8089). Raises ToolError for other URLs."""
    if text.startswith("file:"):
        url = urlsplit(text)
        if url.netloc not in ("", "localhost") or not url.path.startswith("/"):
            raise ToolError(f"--to={text}: expected file:///ABSOLUTE/PATH, a directory of this machine")
        return Path(unquote(url.path))
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", text):
        raise ToolError(f"--to={text}: expected a directory, file:///PATH, s3://BUCKET/PREFIX, or index")
    return base / text


def check_url(option: str, url: str) -> str:
    """Return a URL as it is. Raises ToolError if it is none, or has a password in it."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ToolError(f"{option}={url}: expected a URL, https://HOST/PATH")
    if parts.username or parts.password:
        raise ToolError(
            f"{option}: has credentials in it, which others on this machine can see; "
            "put them into the environment, see --help"
        )
    return url
