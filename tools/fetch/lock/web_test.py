"""Tests of reading URLs: errors, redirections, and files that are too large."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lib.common.program import ToolError
from tools.fetch.lock import web
from tools.fetch.lock.web import NotThereError, Web

#: Bytes of the body of each answer that is not 200.
LARGE = 4 << 20


class Answers(BaseHTTPRequestHandler):
    """Answers by the path: `/404` with that status, `/302/a` with a link to `/a`, `/503/a` once; others have a text."""

    protocol_version = "HTTP/1.1"
    sent = 0
    asked: tuple[str, ...] = ()

    def do_GET(self) -> None:
        """Answer."""
        status, _, rest = self.path[1:].partition("/")
        again = self.path in Answers.asked
        Answers.asked += (self.path,)
        if not status.isdecimal() or (again and rest):
            self.send_response(200)
            self.send_header("Content-Length", "4")
            self.end_headers()
            self.wfile.write(b"text")
            return
        self.send_response(int(status))
        self.send_header("Content-Length", str(LARGE))
        if status == "302":
            self.send_header("Location", f"/{rest}" if rest else self.path)
        self.end_headers()
        try:
            for _ in range(LARGE >> 16):
                self.wfile.write(bytes(1 << 16))
                Answers.sent += 1 << 16
        except OSError:
            self.close_connection = True

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Start a server; returns its URL."""
    monkeypatch.setattr(web, "_RETRIES", web._RETRIES.new(backoff_factor=0))
    monkeypatch.setenv("no_proxy", "*")
    Answers.sent, Answers.asked = 0, ()
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(("path", "error"), [("404", NotThereError), ("501", ToolError), ("503", ToolError)])
def test_errors(server: str, path: str, error: type[Exception]) -> None:
    with pytest.raises(error, match=f"/{path}: the server answers {path} "):
        Web().read(f"{server}/{path}")
    assert len(Answers.asked) == (6 if path == "503" else 1)


@pytest.mark.parametrize("path", ["302/a", "503/a", "429/a", "302/503/302/a"])
def test_redirections_and_busy_servers(server: str, path: str) -> None:
    assert Web().read(f"{server}/{path}") == b"text"


def test_a_checksum_without_an_end_is_not_read(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "SMALL", 3)
    monkeypatch.setattr(web, "CHUNK", 2)  # No chunk is too large by itself.
    with pytest.raises(ToolError, match="/a: more than 3 bytes; expected a listing or a checksum"):
        Web().read(f"{server}/a")


def test_links_that_lead_in_a_circle(server: str) -> None:
    with pytest.raises(ToolError, match=r"/302: cannot be read: .*too many redirects"):
        Web().read(f"{server}/302")
