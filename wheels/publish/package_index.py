"""Publishing to a package index that others keep: one with the upload API of PyPI, such as pypiserver or devpi.

uv uploads, since it knows that protocol, retries, keyrings and trusted publishing. What the index has already is read
from its pages first, so that nothing is sent if one of the files is there with other bytes; uv looks again before each.

Credentials are uv's affair: UV_PUBLISH_TOKEN, or UV_PUBLISH_USERNAME and UV_PUBLISH_PASSWORD, in the environment, or
UV_KEYRING_PROVIDER=subprocess. They are never taken from the command line, which other users of the machine can read.
Here they are used to read a private index, see `IndexClient`.
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import urllib3
from packaging.utils import parse_sdist_filename, parse_wheel_filename

from lib.common.program import ToolError
from wheels.publish.files import LocalFile, is_uploaded
from wheels.publish.place import Sent
from wheels.publish.simple_api import IndexClient, IndexFile, Origin, project_files

CHUNK = 1 << 20
#: What uv takes credentials from.
CREDENTIALS = ("UV_PUBLISH_TOKEN", "UV_PUBLISH_PASSWORD", "UV_KEYRING_PROVIDER")


@dataclass(frozen=True)
class IndexUrls:
    """Where a package index is."""

    #: Of the legacy upload API, as twine takes it for --repository-url.
    upload: str
    #: Of the simple API, as pip takes it for --index-url.
    simple: str


def projects(files: Iterable[LocalFile]) -> list[str]:
    """Return the normalised names (PEP 503) of the projects that distributions are of, sorted."""
    names = [file.path for file in files if is_uploaded(file.path)]
    wheels = {str(parse_wheel_filename(name)[0]) for name in names if name.endswith(".whl")}
    return sorted(wheels | {str(parse_sdist_filename(name)[0]) for name in names if not name.endswith(".whl")})


def authorization(urls: IndexUrls, environment: Mapping[str, str]) -> dict[str, str]:
    """Return what makes a private index show its pages: the credentials of the upload, if it has the same origin."""
    if Origin.of(urls.upload) != Origin.of(urls.simple):
        return {}
    user, password = environment.get("UV_PUBLISH_USERNAME"), environment.get("UV_PUBLISH_PASSWORD")
    if token := environment.get("UV_PUBLISH_TOKEN"):
        user, password = "__token__", token
    return urllib3.make_headers(basic_auth=f"{user}:{password}") if user and password else {}


def check_upload(urls: IndexUrls, environment: Mapping[str, str]) -> None:
    """Raise ToolError where uv would send credentials in clear text."""
    given = [name for name in CREDENTIALS if environment.get(name, "disabled") not in ("", "disabled")]
    if given and not Origin.of(urls.upload).is_private:
        raise ToolError(
            f"--upload-url={urls.upload}: is not encrypted, and {' and '.join(given)} would be sent there for all on "
            f"the way to read; expected https://, or http:// to this machine. Unset {' and '.join(given)} if the index "
            "asks for none"
        )


class PackageIndexPlace:
    """A package index. It keeps what was uploaded, and makes its pages by itself."""

    keeps_index = True

    def __init__(self, urls: IndexUrls, files: Iterable[LocalFile]) -> None:
        """Publish `files`; of their projects the index's pages are read. Raises ToolError as `check_upload` does."""
        check_upload(urls, os.environ)
        self.shown = urls.upload
        self._urls = urls
        self._projects = projects(files)
        self._client = IndexClient(urls.simple, authorization(urls, os.environ))
        self._published: dict[str, IndexFile] = {}

    def tidy(self) -> None:
        """Do nothing: an index shows no upload that was interrupted."""

    def listing(self) -> Mapping[str, int | None]:
        """Return the names of all files that the index has of these projects; it does not tell sizes."""
        for project in self._projects:
            self._published |= project_files(self._client, project)
        return dict.fromkeys(self._published)

    def sha256(self, path: str) -> str:
        """Return the SHA-256 of a file, in hex. It is downloaded if the index has another digest only."""
        file = self._published[path]
        if file.sha256:
            return file.sha256
        digest = hashlib.sha256()
        try:
            answer = self._client.get(file.url, {}, preload=False)
            if answer.status != 200:
                raise ToolError(f"{file.url}: status {answer.status}; the index lists this file but does not give it")
            for chunk in answer.stream(CHUNK):
                digest.update(chunk)
        except urllib3.exceptions.HTTPError as error:
            raise ToolError(f"{file.url}: cannot be read: {error}") from None
        return digest.hexdigest()

    def put(self, file: LocalFile, sent: Sent) -> None:
        """Upload a file. An equal file that has come meanwhile is left alone; raises ToolError if it differs."""
        program = shutil.which("uv")
        if not program:
            raise ToolError("uv is not on PATH; run this with `bazel run`, or install uv")
        command = [program, "publish", f"--publish-url={self._urls.upload}", f"--check-url={self._urls.simple}"]
        result = subprocess.run(
            [*command, str(file.source)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        if result.returncode:
            raise ToolError(f"{self.shown}: cannot send {file.path}: uv says:\n{result.stdout.strip()}")
        sent(file.size)

    def only_publisher(self) -> AbstractContextManager[None]:
        """Return what waits for nobody: the index puts its pages itself."""
        return nullcontext()

    def put_page(self, file: LocalFile, sent: Sent) -> None:
        """Do not happen: `keeps_index`."""
        raise AssertionError(f"{file.path}: {self.shown} makes its pages by itself")
