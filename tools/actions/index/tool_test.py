"""Tests of the directory as a whole: what lies where, what is listed where, and what is refused."""

import os
import re
from pathlib import Path

import pytest

from develop.testing.index_sample import CORE, DEVICES, LIBRARIES, SDIST, SELECTOR, STATIC_WHEEL, Page, Sample


def targets(page: Path) -> list[str]:
    """Return the names of the files that a page links to, each of which has to be there."""
    links = [link["href"].partition("#")[0] for link in Page.at(page).file_links()]
    return [(page.parent / link).resolve(strict=True).name for link in links]


def contents(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize("page", ["index.html", "find-links.html"])
def test_what_is_static_lies_apart_with_an_index_that_has_all_else(tmp_path: Path, page: str) -> None:
    dist = Sample(tmp_path).add_sdk().build()
    others = [CORE, *DEVICES, LIBRARIES]
    assert targets(dist / page) == [SDIST, *others]
    assert targets(dist / "static" / page) == [STATIC_WHEEL, *others]
    assert sorted(path.name for path in dist.iterdir() if path.suffix in (".whl", ".gz")) == sorted([SDIST, *others])
    assert [path.name for path in (dist / "static").glob("*.whl")] == [STATIC_WHEEL]
    assert targets(dist / "static/simple/rocm/index.html") == [STATIC_WHEEL]
    assert targets(dist / "static/simple/rocm-sdk-core/index.html") == [CORE]


def test_the_page_for_people_serves_for_find_links(tmp_path: Path) -> None:
    """It has just the links of the page that is made for that, and leads to no other file."""
    dist = Sample(tmp_path).add_sdk().build()
    for directory in (dist, dist / "static"):
        assert Page.at(directory / "index.html").file_links() == Page.at(directory / "find-links.html").attributes("a")
        others = [
            link["href"] for link in Page.at(directory / "index.html").attributes("a") if "#sha256=" not in link["href"]
        ]
        assert not [href for href in others if re.search(r"\.(whl|gz|zip|tar|bz2|xz)($|[#?])", href)]


def test_without_static_distributions_there_is_no_such_index(tmp_path: Path) -> None:
    dist = Sample(tmp_path).add(CORE).build()
    assert not (dist / "static").exists()
    assert "static" not in (dist / "index.html").read_text().partition("<main>")[2]


def test_files_cost_no_copy_where_links_can_be(tmp_path: Path) -> None:
    dist = Sample(tmp_path).add(CORE).build()
    assert (dist / CORE).stat().st_ino == (tmp_path / "main" / CORE).stat().st_ino


def test_files_are_copied_where_links_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(os, "link", refuse)
    assert (Sample(tmp_path).add(CORE).build() / CORE).read_bytes() == CORE.encode()


def test_the_order_of_the_arguments_changes_no_byte(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    one, other = Sample(tmp_path / "one").add_sdk(), Sample(tmp_path / "other").add_sdk()
    options = [argument for argument in other.arguments if not argument.startswith(("--dist", "--meta", "--dig"))]
    groups = [other.arguments[number : number + 3] for number, text in enumerate(other.arguments) if "--dist" in text]
    other.arguments = options + [argument for group in reversed(groups) for argument in group]
    assert contents(one.build()) == contents(other.build())


def test_a_file_that_comes_twice_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Sample(tmp_path).add(CORE).add(CORE).run() == 1
    error = capsys.readouterr().err
    assert error.startswith(f"ERROR: //:dist: {CORE}: both ")
    assert error.endswith("Leave one out\n")


def test_nothing_to_list_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Sample(tmp_path).run() == 1
    assert "no distribution to list" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("filename", "project", "version", "message"),
    [
        (CORE, "rocm-sdk-cores", "7.0", "its core metadata is of rocm-sdk-cores 7.0; expected rocm-sdk-core 7.0"),
        (CORE, "rocm-sdk-core", "7.1", "its core metadata is of rocm-sdk-core 7.1; expected rocm-sdk-core 7.0"),
        (CORE, "rocm-sdk-core", "seven", "expected valid core metadata: 'seven' is invalid for 'version'"),
        ("rocm.whl", "rocm", "7.0", "expected a file name of a wheel (PEP 427) or an sdist (PEP 625)"),
        ("rocm-7.0.rpm", "rocm", "7.0", "expected a file name of a wheel (PEP 427) or an sdist (PEP 625)"),
    ],
)
def test_what_is_not_as_it_says_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], filename: str, project: str, version: str, message: str
) -> None:
    assert Sample(tmp_path).add(filename, project=project, version=version).run() == 1
    error = capsys.readouterr().err
    assert error.startswith(f"ERROR: //:dist: {filename}: ")
    assert message in error


def test_every_fault_of_the_metadata_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    faults = ("Requires-Python: three", "Requires-Dist: ~~")
    assert Sample(tmp_path).add(CORE, *faults).run() == 1
    error = capsys.readouterr().err
    assert "'three' is invalid for 'requires-python'" in error
    assert "'~~' is invalid for 'requires-dist'" in error


def test_a_selector_of_another_form_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = {key: value for key, value in SELECTOR.items() if key != "layout"}
    assert Sample(tmp_path).add(CORE).select(document).run() == 1
    assert (
        "distributions.json: lacks 'layout'; expected a file as distributions_file writes it" in capsys.readouterr().err
    )
