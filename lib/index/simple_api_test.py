"""Tests of the simple repository API, read back as an installer reads it."""

import json
from pathlib import Path
from typing import Any

import pytest
from packaging.metadata import Metadata
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from develop.testing.index_sample import CORE, DEVICES, LIBRARIES, SDIST, SIZES, STATIC_WHEEL, Page, Sample, sha256

PROJECTS = ["rocm", "rocm-sdk-core", "rocm-sdk-device-gfx1100", "rocm-sdk-device-gfx942", "rocm-sdk-libraries"]


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Sample(tmp_path_factory.mktemp("sample")).add_sdk().build()


def document(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("simple", ["simple", "static/simple"])
def test_the_root_lists_every_project_once(dist: Path, simple: str) -> None:
    assert [link["href"] for link in Page.at(dist / simple / "index.html").attributes("a")] == [
        f"{one}/" for one in PROJECTS
    ]
    assert Page.at(dist / simple / "index.html").text_of("a") == PROJECTS
    projects = document(dist / simple / "index.json")["projects"]
    assert projects == [{"name": name} for name in PROJECTS]
    assert all(canonicalize_name(name) == name for name in PROJECTS)
    assert sorted(path.name for path in (dist / simple).iterdir() if path.is_dir()) == PROJECTS


def test_pages_say_which_version_of_the_api_they_speak(dist: Path) -> None:
    pages = sorted(dist.rglob("simple/**/index.html"))
    assert len(pages) == 12
    for path in [*pages, dist / "find-links.html"]:
        versions = [
            one["content"] for one in Page.at(path).attributes("meta") if one.get("name") == "pypi:repository-version"
        ]
        assert versions == ["1.1"], path
        assert path.read_text().startswith("<!DOCTYPE html>\n"), path
    for path in sorted(dist.rglob("index.json")):
        assert document(path)["meta"] == {"api-version": "1.1"}


def test_links_lead_to_the_files_and_are_named_like_them(dist: Path) -> None:
    for path in sorted(dist.rglob("simple/*/index.html")):
        page = Page.at(path)
        for link, text in zip(page.attributes("a"), page.text_of("a"), strict=True):
            target, _, digest = link["href"].partition("#sha256=")
            file = (path.parent / target).resolve(strict=True)
            assert file.name == text
            assert sha256(file.read_bytes()) == digest


def test_json_and_html_say_the_same(dist: Path) -> None:
    for path in sorted(dist.rglob("simple/*/index.json")):
        files = document(path)["files"]
        links = Page.at(path.with_suffix(".html")).attributes("a")
        assert [f"{one['url']}#sha256={one['hashes']['sha256']}" for one in files] == [link["href"] for link in links]
        for file, link in zip(files, links, strict=True):
            assert file.get("requires-python") == link.get("data-requires-python")
            digest = file.get("core-metadata", {}).get("sha256")
            assert link.get("data-core-metadata") == (digest and f"sha256={digest}")


def test_what_json_says_of_a_wheel(dist: Path) -> None:
    metadata = {"sha256": sha256((dist / f"{CORE}.metadata").read_bytes())}
    assert document(dist / "simple/rocm-sdk-core/index.json") == {
        "meta": {"api-version": "1.1"},
        "name": "rocm-sdk-core",
        "versions": ["7.0"],
        "files": [
            {
                "filename": CORE,
                "url": f"../../{CORE}",
                "hashes": {"sha256": sha256(CORE.encode())},
                "size": SIZES[CORE],
                "upload-time": "1980-01-01T00:00:00.000000Z",
                "requires-python": ">=3.9",
                "core-metadata": metadata,
            }
        ],
    }


def test_metadata_lies_beside_wheels_with_its_digest_in_links(dist: Path) -> None:
    for wheel in [CORE, LIBRARIES, *DEVICES]:
        content = (dist / f"{wheel}.metadata").read_bytes()
        core = Metadata.from_email(content)
        (link,) = Page.at(dist / "simple" / canonicalize_name(core.name) / "index.html").attributes("a")
        assert link["data-core-metadata"] == f"sha256={sha256(content)}"
        assert SpecifierSet(link["data-requires-python"]) == core.requires_python
    assert (dist / "static" / f"{STATIC_WHEEL}.metadata").is_file()


def test_the_old_name_of_the_digest_is_nowhere(dist: Path) -> None:
    """With it pip 22.3 to 23.1 fail (JSON) or download each wheel twice (HTML)."""
    pages = [*sorted(dist.rglob("*.html")), *sorted(dist.rglob("index.json"))]
    assert len(pages) == 28
    assert not [path for path in pages if "dist-info-metadata" in path.read_text()]


def test_an_sdist_has_no_metadata_file_since_it_is_not_final(dist: Path) -> None:
    (link,) = Page.at(dist / "simple/rocm/index.html").attributes("a")
    (file,) = document(dist / "simple/rocm/index.json")["files"]
    assert file["filename"] == SDIST
    assert not [key for key in (*link, *file) if "metadata" in key]
    assert not (dist / f"{SDIST}.metadata").exists()


def test_each_distribution_says_for_itself_which_python_it_needs(tmp_path: Path) -> None:
    sample = Sample(tmp_path).add("a-7.0-py3-none-any.whl", "Requires-Python: >=3.9,<4").add("b-7.0-py3-none-any.whl")
    dist = sample.build()
    first, second = Page.at(dist / "find-links.html").attributes("a")
    assert first["data-requires-python"] == "<4,>=3.9"
    assert "data-requires-python" not in second
    assert "requires-python" not in document(dist / "simple/b/index.json")["files"][0]


def test_versions_are_in_their_own_order(tmp_path: Path) -> None:
    versions = ["7.10.0.dev0", "7.10.0", "7.9.0", "7.10.0rc2"]
    sample = Sample(tmp_path)
    for version in versions:
        sample.add(f"a-{version}-py3-none-any.whl", version=version)
    sample.add("a-7.9.0-py3-none-linux_x86_64.whl", version="7.9.0")
    found = document(sample.build() / "simple/a/index.json")
    assert found["versions"] == ["7.9.0", "7.10.0.dev0", "7.10.0rc2", "7.10.0"]
    assert len(found["files"]) == 5


def test_upload_times_are_that_of_source_date_epoch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    (file,) = document(Sample(tmp_path).add(CORE).build() / "simple/rocm-sdk-core/index.json")["files"]
    assert file["upload-time"] == "2023-11-14T22:13:20.000000Z"


def test_a_plus_in_a_version_is_escaped_in_addresses(tmp_path: Path) -> None:
    wheel = "a-7.0+gabc-py3-none-any.whl"
    dist = Sample(tmp_path).add(wheel, version="7.0+gabc").build()
    assert document(dist / "simple/a/index.json")["files"][0]["url"] == "../../a-7.0%2Bgabc-py3-none-any.whl"
    page = Page.at(dist / "simple/a/index.html")
    assert page.attributes("a")[0]["href"].startswith("../../a-7.0%2Bgabc-py3-none-any.whl#")
    assert page.text_of("a") == [wheel]
