"""Tests of an index with wheel variants: each page has them and their list, and what others see stays as it is."""

import hashlib
import json
from pathlib import Path

import pytest

from develop.testing.index_sample import SDIST, STATIC_WHEEL, Page, Sample
from lib.wheel.variant_format import DRAFT, index_json

VARIANTS = [STATIC_WHEEL.replace(".whl", f"-{label}.whl") for label in ("gfx1100", "gfx942")]
LIST = "rocm-7.0-variants.json"


@pytest.fixture(name="plain")
def _plain(tmp_path: Path) -> Path:
    (tmp_path / "plain").mkdir()
    return Sample(tmp_path / "plain").add_sdk().build()


@pytest.fixture(name="dist")
def _dist(tmp_path: Path) -> Path:
    (tmp_path / "variants").mkdir()
    sample = Sample(tmp_path / "variants").add_sdk()
    return sample.add_variant("gfx942", "gfx942").add_variant("gfx1100", "gfx1100").build()


def test_a_list_of_the_variants_is_beside_them(dist: Path, plain: Path) -> None:
    files, others = ({path.name for path in folder.iterdir()} for folder in (dist, plain))
    assert files - others == {*VARIANTS, *(f"{name}.metadata" for name in VARIANTS), LIST}
    assert (dist / LIST).read_bytes() == index_json({"gfx942": ["gfx942"], "gfx1100": ["gfx1100"]}, None, "")


@pytest.mark.parametrize("page", ["index.html", "find-links.html", "simple/rocm/index.html"])
def test_each_page_links_to_them(dist: Path, page: str) -> None:
    up = "../../" if page.startswith("simple") else ""
    links = {link["href"].partition("#sha256=")[::2] for link in Page.at(dist / page).file_links()}
    for name in (*VARIANTS, LIST):
        assert (up + name, hashlib.sha256((dist / name).read_bytes()).hexdigest()) in links
    assert SDIST in {href.rpartition("/")[2] for href, _ in links}


def test_json_lists_them(dist: Path) -> None:
    document = json.loads((dist / "simple/rocm/index.json").read_bytes())
    files = {one["filename"]: one for one in document["files"]}
    assert list(files) == [*sorted([*VARIANTS, SDIST]), LIST]
    assert document["versions"] == ["7.0"]
    assert files[LIST] == {
        "filename": LIST,
        "url": f"../../{LIST}",
        "hashes": {"sha256": hashlib.sha256((dist / LIST).read_bytes()).hexdigest()},
        "size": (dist / LIST).stat().st_size,
        "upload-time": "1980-01-01T00:00:00.000000Z",
    }


def test_pages_of_other_projects_and_the_static_index_stay_as_they_are(dist: Path, plain: Path) -> None:
    pages = [path.relative_to(plain) for path in plain.rglob("*") if path.is_file()]
    changed = {str(page) for page in pages if (dist / page).read_bytes() != (plain / page).read_bytes()}
    assert changed == {"index.html", "find-links.html", "simple/rocm/index.html", "simple/rocm/index.json"}


def test_the_landing_page_names_the_draft_and_counts_no_variant_as_a_package(dist: Path, plain: Path) -> None:
    page, other = Page.at(dist / "index.html"), Page.at(plain / "index.html")
    assert f"for installers that know them ({DRAFT}): gfx1100, gfx942" in " ".join(page.text_of("dd"))
    tables = [text for text in page.text_of("table") if "All packages of this index." in text]
    assert tables == [text for text in other.text_of("table") if "All packages of this index." in text]
    assert page.text_of("pre") == other.text_of("pre")


def test_the_same_bytes_again(dist: Path, tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    sample = Sample(tmp_path / "again").add_sdk()
    again = sample.add_variant("gfx1100", "gfx1100").add_variant("gfx942", "gfx942").build()
    for path in dist.rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (again / path.relative_to(dist)).read_bytes(), path


def test_variants_that_do_not_agree_are_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sample = Sample(tmp_path).add_sdk().add_variant("gfx942", "gfx942")
    sample.add_variant("gfx942", "gfx950", filename=VARIANTS[1].replace("py3", "cp312"))
    assert sample.run() == 1
    assert "expected the variant 'gfx942' alone, with the same properties in each wheel" in capsys.readouterr().err


def test_a_label_without_its_file_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Sample(tmp_path).add_sdk().add(VARIANTS[0], "Summary: The selector").run() == 1
    assert f"{VARIANTS[0]}: expected a label at the end of a wheel variant's name, and" in capsys.readouterr().err
