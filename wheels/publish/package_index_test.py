"""Which projects are looked up on an index, and who is told credentials. tests/e2e/publish uploads to real ones."""

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from develop.testing.publish_sample import FILES, with_pages, write
from lib.common.program import ToolError
from wheels.publish import tool
from wheels.publish.files import read_files
from wheels.publish.package_index import IndexUrls, PackageIndexPlace, authorization, check_upload, projects
from wheels.publish.simple_api import IndexClient, Origin

SAME = IndexUrls("https://pypi.example/legacy/", "https://pypi.example/simple/")
OTHER = IndexUrls("https://upload.example/legacy/", "https://pypi.example/simple/")
LOGIN = {"UV_PUBLISH_USERNAME": "me", "UV_PUBLISH_PASSWORD": "secret"}


def basic(text: str) -> dict[str, str]:
    """Return the header of basic authentication."""
    return {"authorization": f"Basic {base64.b64encode(text.encode()).decode()}"}


TOLD = basic("me:secret")["authorization"]


@dataclass
class Server:
    """An HTTP server on this machine, and what it was asked for: path, and Authorization or None."""

    host: str = ""
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    #: Path -> status, body, or where to go on.
    answers: dict[str, tuple[int, str]] = field(default_factory=dict)
    #: Paths that want credentials, and the status without them.
    private: dict[str, int] = field(default_factory=dict)
    #: Where a private path leads that answers 302.
    elsewhere: str = ""


def handler(server: Server) -> type[BaseHTTPRequestHandler]:
    """Return a handler that answers for `server`, and remembers what it was asked."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told = self.headers["Authorization"]
            server.asked.append((self.path, told))
            status, text = server.answers.get(self.path, (404, ""))
            if self.path in server.private and told != TOLD:
                status, text = server.private[self.path], server.elsewhere
            self.send_response(status)
            if status == 302:
                self.send_header("Location", text)
            self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
            """Say nothing."""

    return Handler


@pytest.fixture
def servers() -> Iterator[tuple[Server, Server]]:
    """Run an index, and another server, which is of another origin as its port is another."""
    made = (Server(), Server())
    running = [ThreadingHTTPServer(("127.0.0.1", 0), handler(one)) for one in made]
    for one, server in zip(made, running, strict=True):
        one.host = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield made
    for server in running:
        server.shutdown()
        server.server_close()


def page(*urls: str) -> tuple[int, str]:
    """Return a project's page that lists files whose SHA-256 the index does not know."""
    files = [{"filename": url.rpartition("/")[2], "url": url, "hashes": {}} for url in urls]
    return 200, json.dumps({"files": files})


def urls_of(index: Server) -> IndexUrls:
    """Return where the index is, which has both APIs."""
    return IndexUrls(f"{index.host}/legacy/", f"{index.host}/simple/")


@pytest.fixture
def place(servers: tuple[Server, Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PackageIndexPlace:
    for name, value in LOGIN.items():
        monkeypatch.setenv(name, value)
    return PackageIndexPlace(urls_of(servers[0]), read_files(write(tmp_path, with_pages({"rocm-7.0.tar.gz": b"x"}))))


def test_projects(tmp_path: Path) -> None:
    files = read_files(write(tmp_path, with_pages(FILES)))
    assert projects(files) == ["rocm", "rocm-sdk-core"]


def test_the_credentials_of_the_upload_are_those_of_an_index_of_the_same_origin() -> None:
    assert authorization(SAME, LOGIN) == basic("me:secret")
    assert authorization(SAME, {"UV_PUBLISH_TOKEN": "pypi-1"}) == basic("__token__:pypi-1")
    assert authorization(SAME, {"UV_PUBLISH_USERNAME": "me"}) == {}
    assert authorization(IndexUrls("https://PyPI.example:443/", SAME.simple), LOGIN) == basic("me:secret")


@pytest.mark.parametrize("upload", [OTHER.upload, "http://pypi.example/legacy/", "https://pypi.example:8443/legacy/"])
def test_an_index_of_another_origin_than_the_upload_is_told_nothing(upload: str) -> None:
    assert authorization(IndexUrls(upload, SAME.simple), LOGIN) == {}


def test_an_index_that_all_may_read_is_told_nothing(servers: tuple[Server, Server], place: PackageIndexPlace) -> None:
    index, other = servers
    index.answers = {
        "/simple/rocm/": page(f"{other.host}/files/rocm-7.0.tar.gz", f"{index.host}/files/rocm-6.0.tar.gz")
    }
    index.answers["/files/rocm-6.0.tar.gz"] = other.answers["/files/rocm-7.0.tar.gz"] = (200, "x")
    assert set(place.listing()) == {"rocm-7.0.tar.gz", "rocm-6.0.tar.gz"}
    for path in place.listing():
        assert place.sha256(path) == hashlib.sha256(b"x").hexdigest()
    assert {told for _, told in index.asked + other.asked} == {None}


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_private_index_is_told_after_it_refused(
    servers: tuple[Server, Server], place: PackageIndexPlace, status: int
) -> None:
    index, other = servers
    index.answers = {"/simple/rocm/": page("/files/rocm-7.0.tar.gz"), "/files/rocm-7.0.tar.gz": (200, "x")}
    index.private = dict.fromkeys(index.answers, status)
    assert set(place.listing()) == {"rocm-7.0.tar.gz"}
    assert place.sha256("rocm-7.0.tar.gz") == hashlib.sha256(b"x").hexdigest()
    assert index.asked == [(path, told) for path in index.answers for told in (None, TOLD)]
    assert other.asked == []


@pytest.mark.parametrize("status", [401, 403, 404])
def test_another_server_that_has_the_files_is_told_nothing(
    servers: tuple[Server, Server], place: PackageIndexPlace, status: int
) -> None:
    index, other = servers
    url = f"{other.host}/files/rocm-7.0.tar.gz"
    index.answers, index.private = {"/simple/rocm/": page(url)}, {"/simple/rocm/": 401}
    other.private = {"/files/rocm-7.0.tar.gz": status}
    place.listing()
    with pytest.raises(ToolError, match=f"{url}: status {status}"):
        place.sha256("rocm-7.0.tar.gz")
    assert other.asked == [("/files/rocm-7.0.tar.gz", None)]


def test_whoever_the_index_redirects_to_is_told_nothing(
    servers: tuple[Server, Server], place: PackageIndexPlace
) -> None:
    index, other = servers
    index.answers = {
        "/simple/rocm/": page("/files/rocm-7.0.tar.gz"),
        "/files/rocm-7.0.tar.gz": (302, f"{other.host}/blobs/1"),
    }
    index.private = dict.fromkeys(index.answers, 401)
    other.answers = {"/blobs/1": (200, "x")}
    place.listing()
    assert place.sha256("rocm-7.0.tar.gz") == hashlib.sha256(b"x").hexdigest()
    assert index.asked[-1] == ("/files/rocm-7.0.tar.gz", TOLD)
    assert other.asked == [("/blobs/1", None)]


def test_a_parser_of_urls_that_sees_another_host_tells_nobody(
    servers: tuple[Server, Server], place: PackageIndexPlace
) -> None:
    """The standard library's sees the host behind `@`, whoever connects the one before the backslash."""
    index, other = servers
    url = f"{other.host}\\@{index.host.removeprefix('http://')}/files/rocm-7.0.tar.gz"
    index.answers, index.private = {"/simple/rocm/": page(url)}, {"/simple/rocm/": 401}
    place.listing()
    with pytest.raises(ToolError, match="status 404"):
        place.sha256("rocm-7.0.tar.gz")
    assert [told for _, told in other.asked] == [None]


def test_an_index_that_sends_strangers_to_a_page_for_logging_in(
    servers: tuple[Server, Server], place: PackageIndexPlace
) -> None:
    index, other = servers
    index.answers = {"/simple/rocm/": page("/files/rocm-7.0.tar.gz"), "/login": page()}
    for login in ("/login", f"{other.host.replace('127.0.0.1', 'localhost')}/login"):
        index.private, index.elsewhere = {"/simple/rocm/": 302}, login
        assert set(place.listing()) == {"rocm-7.0.tar.gz"}
        assert index.asked[-1] == ("/simple/rocm/", TOLD)
    assert {told for _, told in other.asked} == {None}


def test_a_page_for_logging_in_is_no_project_without_files(
    servers: tuple[Server, Server], place: PackageIndexPlace
) -> None:
    index, _ = servers
    index.answers = {"/simple/rocm/": (302, "/login"), "/login": page()}
    with pytest.raises(
        ToolError, match=r"/simple/rocm/: leads to .*/login, a page without files; expected a project's"
    ):
        place.listing()


def test_a_dry_run_tells_an_index_that_all_may_read_nothing(
    servers: tuple[Server, Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    index, _ = servers
    monkeypatch.setenv("UV_PUBLISH_TOKEN", "pypi-1")
    index.answers = {"/simple/rocm/": page("/files/rocm-7.0.tar.gz"), "/files/rocm-7.0.tar.gz": (200, "x")}
    dist = write(tmp_path, with_pages({"rocm-7.0.tar.gz": b"x"}))
    urls = urls_of(index)
    place = ["--to=index", f"--upload-url={urls.upload}", f"--index-url={urls.simple}"]
    assert tool.main([*place, f"--dist={dist}", "--dry-run"]) == 0
    assert "there  rocm-7.0.tar.gz" in capsys.readouterr().out
    assert [told for _, told in index.asked] == [None, None]


def test_a_client_tells_nothing_where_others_can_read_it(servers: tuple[Server, Server]) -> None:
    """The name leads to an address of this machine, as the name of a server elsewhere leads to its address."""
    index, _ = servers
    index.private = {"/simple/rocm/": 401}
    client = IndexClient(f"{index.host.replace('127.0.0.1', '0.0.0.0')}/simple/", basic("me:secret"))
    assert client.get(f"{client.index_url}/rocm/", {}).status == 401
    assert index.asked == [("/simple/rocm/", None)]


@pytest.mark.parametrize(
    ("url", "private"),
    [
        ("https://pypi.example/", True),
        ("http://pypi.example/", False),
        ("http://localhost:8080/", True),
        ("http://127.1.2.3/", True),
        ("http://[::1]:8080/", True),
        ("http://192.168.0.1/", False),
        ("http://localhost.example/", False),
    ],
)
def test_where_nobody_else_can_read_what_is_sent(url: str, private: bool) -> None:
    assert Origin.of(url).is_private is private


@pytest.mark.parametrize("name", ["UV_PUBLISH_TOKEN", "UV_PUBLISH_PASSWORD", "UV_KEYRING_PROVIDER"])
def test_credentials_are_not_uploaded_in_clear_text(name: str) -> None:
    urls = IndexUrls("http://pypi.example/legacy/", SAME.simple)
    with pytest.raises(
        ToolError, match=f"--upload-url=http://pypi.example/legacy/: is not encrypted, and {name} would"
    ):
        check_upload(urls, {name: "x"})
    check_upload(urls, {"UV_KEYRING_PROVIDER": "disabled", "UV_PUBLISH_TOKEN": ""})
    check_upload(SAME, {name: "x"})
    check_upload(IndexUrls("http://127.0.0.1:8080/", SAME.simple), {name: "x"})
