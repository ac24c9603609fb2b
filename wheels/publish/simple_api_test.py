"""Pages of package indexes, read from a server on this machine."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from lib.common.program import ToolError
from wheels.publish import simple_api
from wheels.publish.simple_api import ACCEPT, IndexClient, IndexFile, project_files

DIGEST = "ab" * 32
HTML = f"""<!DOCTYPE html><html><body>
<a name="top">no link</a>
<a href="../../files/rocm-7.0%2Bg1.tar.gz#sha256={DIGEST.upper()}" data-requires-python="&gt;=3.9">rocm</a>
<a href="https://files.example/rocm-6.0.tar.gz#md5=00">rocm</a>
</body></html>"""
JSON = json.dumps(
    {
        "meta": {"api-version": "1.1"},
        "name": "rocm",
        "files": [
            {"filename": "rocm-7.0.tar.gz", "url": "../../files/rocm-7.0.tar.gz", "hashes": {"sha256": DIGEST}},
            {"filename": "rocm-6.0.tar.gz", "url": "https://files.example/rocm-6.0.tar.gz", "hashes": {}},
        ],
    }
)
ANSWERS = {
    "/simple/html/": (200, "text/html; charset=utf-8", HTML),
    "/simple/json/": (200, "application/vnd.pypi.simple.v1+json", JSON),
    "/simple/text/": (200, "text/plain", "hello"),
    "/simple/broken/": (200, "application/vnd.pypi.simple.v1+json", '{"files": [{}]}'),
    "/simple/bad-url/": (200, "text/html", '<a href="https://[bad/x.tar.gz">x</a>'),
    "/simple/list/": (200, "application/vnd.pypi.simple.v1+json", "[]"),
    "/simple/forbidden/": (403, "text/html", ""),
    "/simple/failing/": (500, "text/html", ""),
}


class Handler(BaseHTTPRequestHandler):
    """Answers as ANSWERS has it; of a project that it does not know it sends clients elsewhere, as some indexes do."""

    accepted: ClassVar[set[str]] = set()
    times = 0

    def do_GET(self) -> None:
        """Answer."""
        Handler.accepted.add(self.headers["Accept"])
        if self.path == "/simple/elsewhere/":
            self.send_response(302)
            self.send_header("Location", f"http://localhost:{self.headers['Host'].partition(':')[2]}/simple/html/")
            self.end_headers()
            return
        if self.path == "/simple/sometimes/":
            Handler.times += 1
            answer = ANSWERS["/simple/html/" if Handler.times > 2 else "/simple/failing/"]
        else:
            answer = ANSWERS.get(self.path, (404, "text/html", ""))
        status, kind, text = answer
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture(scope="module")
def index() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/simple"
    server.shutdown()
    server.server_close()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again without a pause."""
    monkeypatch.setattr(simple_api, "RETRIES", simple_api.RETRIES.new(backoff_factor=0))


def read(index: str, project: str) -> dict[str, IndexFile]:
    """Read the page of a project."""
    return project_files(IndexClient(index, {}), project)


def test_html(index: str) -> None:
    host = index.removesuffix("/simple")
    assert read(index, "html") == {
        "rocm-7.0+g1.tar.gz": IndexFile(f"{host}/files/rocm-7.0%2Bg1.tar.gz", DIGEST),
        "rocm-6.0.tar.gz": IndexFile("https://files.example/rocm-6.0.tar.gz", None),
    }
    assert Handler.accepted == {ACCEPT}


def test_json(index: str) -> None:
    host = index.removesuffix("/simple")
    assert read(index, "json") == {
        "rocm-7.0.tar.gz": IndexFile(f"{host}/files/rocm-7.0.tar.gz", DIGEST),
        "rocm-6.0.tar.gz": IndexFile("https://files.example/rocm-6.0.tar.gz", None),
    }


def test_a_project_that_the_index_does_not_know(index: str) -> None:
    assert read(index, "unknown") == {}
    assert read(index, "elsewhere") == {}, "what another index has says nothing of this one"


def test_an_index_that_fails_at_first(index: str) -> None:
    assert len(read(index, "sometimes")) == 2


@pytest.mark.parametrize(
    ("project", "message"),
    [
        ("text", "has the content type text/plain; expected a project's page"),
        ("broken", "is not a project's page of the simple API in JSON"),
        ("list", "is not a project's page of the simple API in JSON"),
        ("bad-url", "is not a project's page of the simple API in HTML"),
        ("forbidden", "status 403"),
        ("failing", "cannot be read"),
    ],
)
def test_what_is_no_index(index: str, project: str, message: str) -> None:
    with pytest.raises(ToolError, match=f"{index}/{project}/: {message}"):
        read(index, project)


def test_no_server(index: str) -> None:
    with pytest.raises(ToolError, match="cannot be read"):
        read("http://127.0.0.1:1/simple", "html")
