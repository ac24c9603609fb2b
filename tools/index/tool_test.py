"""Tests of the package index, read back as an installer reads it."""

import hashlib
import html.parser
import json
from pathlib import Path

from tools.index.tool import main

STATIC_WHEEL = "rocm-7.0-py3-none-any.whl"
SDIST, WHEEL = "rocm-7.0.tar.gz", "rocm_sdk_core-7.0-py3-none-linux_x86_64.whl"


class Anchors(html.parser.HTMLParser):
    """Collects the attributes of every link of a page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[dict[str, str | None]] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the attributes of a link."""
        if tag == "a":
            self.found.append(dict(attrs))


def build(directory: Path, *names: str, static: tuple[str, ...] = ()) -> Path:
    arguments = ["--label=//:dist", "--requires-python=>=3.9", f"--output={directory}/dist"]
    arguments += [f"--static={directory / name}" for name in static]
    for name in [*names, *static]:
        (directory / name).write_bytes(name.encode())
        (directory / f"{name}.in").write_text(f"Name: {name}\n")
        digest = {"filename": name, "size": len(name), "sha256": hashlib.sha256(name.encode()).hexdigest()}
        (directory / f"{name}.json").write_text(json.dumps(digest))
        path = directory / name
        arguments += [f"--distribution={path}", f"--metadata={path}.in", f"--digest={path}.json"]
    assert main(arguments) == 0
    return directory / "dist"


def test_flat_page_links_files_beside_it_with_digests(tmp_path: Path) -> None:
    dist = build(tmp_path, WHEEL, SDIST)
    links = Anchors(dist / "index.html").found
    assert [str(link["href"]).partition("#")[0] for link in links] == [SDIST, WHEEL]
    for link in links:
        name, _, digest = str(link["href"]).partition("#sha256=")
        assert hashlib.sha256((dist / name).read_bytes()).hexdigest() == digest
        assert link["data-requires-python"] == ">=3.9"


def test_simple_pages_lead_to_the_files(tmp_path: Path) -> None:
    dist = build(tmp_path, WHEEL, SDIST)
    assert [link["href"] for link in Anchors(dist / "simple/index.html").found] == ["rocm/", "rocm-sdk-core/"]
    (link,) = Anchors(dist / "simple/rocm-sdk-core/index.html").found
    target = dist / "simple/rocm-sdk-core" / str(link["href"]).partition("#")[0]
    assert target.resolve() == (dist / WHEEL).resolve()


def test_metadata_lies_beside_wheels_and_its_digest_is_in_the_link(tmp_path: Path) -> None:
    dist = build(tmp_path, WHEEL, SDIST)
    sdist, wheel = Anchors(dist / "index.html").found
    content = (dist / f"{WHEEL}.metadata").read_bytes()
    assert wheel["data-core-metadata"] == f"sha256={hashlib.sha256(content).hexdigest()}"
    assert "data-core-metadata" not in sdist
    assert not (dist / f"{SDIST}.metadata").exists()


def targets(page: Path) -> list[Path]:
    """Return the files that a page links to, each of which has to be there."""
    links = [str(link["href"]).partition("#")[0] for link in Anchors(page).found]
    return [(page.parent / link).resolve(strict=True) for link in links]


def test_what_is_static_lies_apart_with_an_index_that_has_all_else(tmp_path: Path) -> None:
    dist = build(tmp_path, WHEEL, SDIST, static=(STATIC_WHEEL,))
    wheel, sdist, static = dist / WHEEL, dist / SDIST, dist / "static" / STATIC_WHEEL
    assert targets(dist / "index.html") == [sdist, wheel]
    assert targets(dist / "simple/rocm/index.html") == [sdist]
    assert targets(dist / "static/index.html") == [static, wheel]
    assert targets(dist / "static/simple/rocm/index.html") == [static]
    assert targets(dist / "static/simple/rocm-sdk-core/index.html") == [wheel]
    assert [link["href"] for link in Anchors(dist / "static/simple/index.html").found] == ["rocm/", "rocm-sdk-core/"]
    assert (dist / "static" / f"{STATIC_WHEEL}.metadata").is_file()
    assert sorted(path.name for path in dist.iterdir() if path.suffix in (".whl", ".gz")) == [SDIST, WHEEL]


def test_without_static_distributions_there_is_no_such_index(tmp_path: Path) -> None:
    assert not (build(tmp_path, WHEEL, SDIST) / "static").exists()


def test_files_cost_no_copy_where_links_can_be(tmp_path: Path) -> None:
    dist = build(tmp_path, WHEEL)
    assert (dist / WHEEL).stat().st_ino == (tmp_path / WHEEL).stat().st_ino
