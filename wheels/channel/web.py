"""A channel as a web server shows it, to look at: for whoever has no access to the directory or bucket."""

import posixpath
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote

import urllib3

from lib.common.command import CannotRunError
from wheels.channel.place import Place, StoredFile, StoredText


def fetch_url(url: str, target: Path) -> Path:
    """Download a file. Raises FileNotFoundError if there is none, CannotRunError if it cannot be fetched."""
    try:
        answer = urllib3.request("GET", url, preload_content=False)
        if answer.status != 200:  # Buckets say 403 of what is not there.
            kind = FileNotFoundError if answer.status in (403, 404) else CannotRunError
            raise kind(f"{url}: status {answer.status}; expected a file. Correct the URL, or call this again")
        with target.open("wb") as file:
            shutil.copyfileobj(answer, file)
    except urllib3.exceptions.HTTPError as error:
        raise CannotRunError(f"{url}: cannot be fetched: {error}. Call this again") from None
    return target


class WebPlace(Place):
    """A channel below a URL: read only, and nobody knows what else is there."""

    def __init__(self, url: str) -> None:
        """Use a URL."""
        self.shown = url.rstrip("/")

    def read(self, path: str) -> StoredText | None:
        """Return a small file, None if there is none."""
        with tempfile.TemporaryDirectory(prefix="rocm-wheels-") as folder, suppress(FileNotFoundError):
            return StoredText(self.fetch(path, Path(folder)).read_bytes(), "")
        return None

    def fetch(self, path: str, folder: Path) -> Path:
        """Download a file."""
        return fetch_url(f"{self.shown}/{quote(path)}", folder / posixpath.basename(path))

    def pages(self, stream: str) -> Mapping[str, StoredFile]:
        """Return none."""
        return {}

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise CannotRunError(f"{self.shown}: is only served. Name the directory or bucket, or use check --trust")

    write = upload = list = sha256 = delete = _refuse
