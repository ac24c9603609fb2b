"""Wheels that other rules made are listed, too; split wheels have an index for each target."""

from pathlib import Path

import pytest

from develop.testing.index_sample import CORE, LIBRARIES, SDIST, Page
from develop.testing.index_sample import Sample as IndexSample
from develop.testing.wheel_sample import METADATA, Sample
from tools.actions.describe.tool import main as describe

ACME = Sample(
    name="acme", tag="py3-none-any", metadata=METADATA.replace("License-File", "Provides-Extra: x\nLicense-File")
)
THIN = tuple(Sample(name="acme", version=f"1.0+{target}") for target in ("gfx110x.all", "gfx942"))


def add(index: IndexSample, wheels: Path, *more: str) -> None:
    """Let the index list a wheel, or a directory of them, by what describe says."""
    output = wheels.with_name(f"{wheels.name}-described")
    assert describe(["--label=//:acme", f"--wheels={wheels}", f"--output={output}", *more]) == 0
    index.arguments += [f"--wheels={wheels}", f"--described={output}"]


def links(page: Path) -> list[str]:
    """Return the names of the files that a page links to, each of which has to be there."""
    found = [link["href"].partition("#")[0].replace("%2B", "+") for link in Page.at(page).file_links()]
    return [(page.parent / link).resolve(strict=True).name for link in found]


def split(folder: Path) -> Path:
    for sample in THIN:
        place = folder / "thin" / sample.version.partition("+")[2].replace(".", "-")
        place.mkdir(parents=True)
        (place / sample.filename).write_bytes(sample.build())
    return folder / "thin"


def test_a_wheel_of_another_rule_is_listed_with_its_metadata(tmp_path: Path) -> None:
    index = IndexSample(tmp_path).add_sdk()
    path = tmp_path / "stamped-_V_-py3-none-any.whl"
    path.write_bytes(ACME.build())
    (tmp_path / "name").write_text(ACME.filename)
    add(index, path, f"--name-file={tmp_path / 'name'}")
    dist = index.build()
    assert ACME.filename in links(dist / "index.html")
    assert (dist / ACME.filename).read_bytes() == path.read_bytes()
    assert b"Provides-Extra: x" in (dist / f"{ACME.filename}.metadata").read_bytes()
    text = (dist / "index.html").read_text()
    assert "rocm[" in text, "the example is the selector's, although acme has an extra as well"
    assert "acme[" not in text


def test_split_wheels_have_an_index_for_each_target_that_lists_all_else(tmp_path: Path) -> None:
    index = IndexSample(tmp_path).add_sdk()
    add(index, split(tmp_path))
    dist = index.build()
    assert not [name for name in links(dist / "index.html") if name.startswith("acme")]
    assert "gfx942/index.html" in [link["href"] for link in Page.at(dist / "index.html").attributes("a")]
    for directory, sample in zip(("gfx110x-all", "gfx942"), THIN, strict=True):
        assert (dist / directory / f"{sample.filename}.metadata").is_file()
        for page in ("index.html", "find-links.html", "simple/acme/index.html"):
            assert [name for name in links(dist / directory / page) if name.startswith("acme")] == [sample.filename]
        assert {SDIST, CORE, LIBRARIES} <= set(links(dist / directory / "index.html"))
        assert links(dist / directory / "simple/rocm-sdk-core/index.html") == [CORE]


def test_the_fat_wheel_is_in_the_main_index_and_in_no_other(tmp_path: Path) -> None:
    index = IndexSample(tmp_path)
    (tmp_path / ACME.filename).write_bytes(ACME.build())
    add(index, tmp_path / ACME.filename)
    add(index, split(tmp_path))
    dist = index.build()
    assert links(dist / "index.html") == [ACME.filename]
    assert links(dist / "gfx942/index.html") == [THIN[1].filename]


def test_split_wheels_alone_are_no_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index = IndexSample(tmp_path)
    add(index, split(tmp_path))
    assert index.run() == 1
    assert "expected one in `distributions` that is not a split wheel" in capsys.readouterr().err
