"""The site has every page, can be searched, and loads nothing from elsewhere."""

import json
import re
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from docs.generator import site_server

DOCS = Path(__file__).absolute().parents[1]  # Not resolved: Bazel puts the site beside the links to sources
SITE = DOCS / "site"
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html") if path.name != "404.html")


def test_every_page_is_there() -> None:
    assert {"CHANGELOG.html", "CONTRIBUTING.html", "index.html", "docs/index.html", "docs/rocm/packages.html"} <= set(
        PAGES
    )
    assert len(PAGES) > 30


@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_loaded_from_elsewhere(page: str) -> None:
    text = (SITE / page).read_text(encoding="utf-8")
    loaded = re.findall(r"<(?:script|img|link|iframe|source)\b[^>]*?\b(?:src|href)=\"?([^\s\">]+)", text)
    assert [address for address in loaded if re.match(r"(?:https?:)?//", address)] == []


def test_the_style_sheets_load_nothing_from_elsewhere() -> None:
    for sheet in SITE.rglob("*.css"):
        assert not re.search(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", sheet.read_text(encoding="utf-8")), sheet


def test_the_search_finds_a_section() -> None:
    index = json.loads((SITE / "search/search_index.json").read_text(encoding="utf-8"))
    assert "docs/rocm/packages.html#thin-packages" in {entry["location"] for entry in index["docs"]}


def test_a_port_that_is_taken_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as taken:
        assert site_server.main([str(SITE), "--port", str(taken.server_port)]) == 1
    assert "Choose another: --port 0" in capsys.readouterr().err
