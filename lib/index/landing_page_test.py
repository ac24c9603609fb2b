"""Tests of the landing page, read back: what it says, and that nothing gets into it as markup."""

import base64
import hashlib
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.utils import NormalizedName
from packaging.version import Version

from develop.testing.index_sample import CORE, DEVICES, LIBRARIES, SDIST, SELECTOR, STATIC_WHEEL, Page, Sample
from lib.index.landing_page import Site, people_page
from lib.index.model import Distribution, Index
from lib.index.simple_api import find_links_page, project_list_page, project_page

#: Elements and attributes that could make a browser load something.
LOADING = {"img", "iframe", "object", "embed", "video", "audio", "source", "base", "form"}


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Sample(tmp_path_factory.mktemp("sample")).add_sdk().build()


@pytest.fixture(scope="module", params=["index.html", "static/index.html"])
def path(dist: Path, request: pytest.FixtureRequest) -> Path:
    return dist / str(request.param)


def rows(page: Page) -> list[str]:
    return page.text_of("tr")


def test_headings_begin_with_one_and_leave_none_out(path: Path) -> None:
    levels = [int(tag[1]) for tag, _ in Page.at(path).elements if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(level <= before + 1 for before, level in pairwise(levels))


def test_every_table_has_a_caption_and_headers(path: Path) -> None:
    page = Page.at(path)
    count = len(page.attributes("table"))
    assert count == len([text for text in page.text_of("caption") if text]) == 3
    scopes = [one["scope"] for one in page.attributes("th")]
    assert scopes.count("row") == len(rows(page)) - count


def test_packages_for_several_platforms_say_where_they_run(tmp_path: Path) -> None:
    sample = Sample(tmp_path).add_sdk()
    for wheel in (CORE, LIBRARIES, DEVICES[0]):
        sample.add(wheel.replace("linux_x86_64", "win_amd64"), "Summary: For Windows")
    page = Page.at(sample.build() / "index.html")
    assert "rocm-sdk-core Runtime & compiler Linux 7.0 400 MB" in rows(page)
    assert "rocm-sdk-core For Windows Windows 7.0 1.00 kB" in rows(page)
    assert "rocm The selector any 7.0 40.0 kB" in rows(page)
    assert "gfx1100 rocm[device-gfx1100] rocm-sdk-device-gfx1100 Linux, Windows 50.0 MB" in rows(page)
    assert "gfx942 rocm[device-gfx942] rocm-sdk-device-gfx942 Linux 70.0 MB" in rows(page)
    assert "rocm[libraries] rocm-sdk-core, rocm-sdk-libraries 500 MB" in rows(page)
    assert any(text.endswith("in one pair of brackets. Sizes are those for Linux.") for text in page.text_of("caption"))


def test_a_target_that_one_platform_lacks(tmp_path: Path) -> None:
    """A page for Windows alone does not list what Linux alone has, and names its own default."""
    sample = Sample(tmp_path)
    for wheel in (CORE, LIBRARIES, DEVICES[0]):
        sample.add(wheel.replace("linux_x86_64", "win_amd64"), "Summary: For Windows")
    extras = (
        "Provides-Extra: device-gfx1100",
        "Requires-Dist: rocm-sdk-device-gfx1100==7.0; extra == 'device-gfx1100'",
    )
    sample.add(SDIST, "Dynamic: Requires-Dist").add(STATIC_WHEEL, *extras, static=True)
    roles = sorted(SELECTOR["packages"])
    linux = {"packages": roles, "targets": ["gfx1100", "gfx942"], "default_target": "gfx942"}
    windows = {"packages": roles, "targets": ["gfx1100"], "default_target": "gfx1100"}
    sample.select({**SELECTOR, "platforms": {"linux": linux, "win32": windows}})
    page = Page.at(sample.build() / "index.html")
    assert not [row for row in rows(page) if "gfx942" in row]
    assert "On a machine without a GPU, installers take gfx1100." in page.text_of("p")


def test_an_index_for_windows_alone_tells_of_that(tmp_path: Path) -> None:
    sample = Sample(tmp_path)
    sample.add("sdk_core-7.0-py3-none-win_amd64.whl", "Summary: Core")
    sample.add(
        "sdk-7.0-py3-none-any.whl",
        "Provides-Extra: core",
        "Requires-Dist: sdk-core==7.0; sys_platform == 'win32' and extra == 'core'",
        "Requires-Dist: sdk-other==7.0; sys_platform == 'linux' and extra == 'core'",
    )
    assert "sdk[core] sdk-core 2.00 kB" in rows(Page.at(sample.build() / "index.html"))


def test_links_within_the_page_lead_somewhere(path: Path) -> None:
    page = Page.at(path)
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    fragments = [link["href"][1:] for link in page.attributes("a") if link["href"].startswith("#")]
    assert set(fragments) <= set(ids)
    assert len(fragments) >= 10


def test_links_to_other_files_are_relative_and_lead_to_files(path: Path) -> None:
    others = [link["href"] for link in Page.at(path).attributes("a") if not link["href"].startswith(("#", "https://"))]
    assert len(others) >= 10
    for href in others:
        assert (path.parent / href.partition("#")[0]).resolve(strict=True).is_file()


def test_the_page_loads_nothing_and_may_not(path: Path) -> None:
    page = Page.at(path)
    assert not LOADING & {tag for tag, _ in page.elements}
    assert not [
        one for _, one in page.elements if "src" in one or "style" in one or any(key[:2] == "on" for key in one)
    ]
    assert page.attributes("link") == [{"href": "data:,", "rel": "icon"}]
    (policy,) = [one["content"] for one in page.attributes("meta") if one.get("http-equiv")]
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", path.read_text(), re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
        assert "url(" not in text
        assert "@import" not in text


def test_what_is_said_of_packages(dist: Path) -> None:
    page = Page.at(dist / "index.html")
    assert page.text_of("h1") == ["Sample"]
    assert page.text_of("title") == ["Sample 7.0"]
    assert "Version 7.0 · 5 packages · 620 MB in all" in page.text_of("p")
    for text in [
        "rocm-sdk-core Runtime & compiler 7.0 400 MB",
        "rocm[device] rocm-sdk-core, rocm-sdk-libraries, the package for the machine's GPU 550 MB to 570 MB",
        "rocm[libraries] rocm-sdk-core, rocm-sdk-libraries 500 MB",
        "gfx942 rocm[device-gfx942] rocm-sdk-device-gfx942 70.0 MB",
    ]:
        assert text in rows(page)


def test_only_where_something_is_chosen_it_is_said_what(dist: Path) -> None:
    assert "On a machine without a GPU, installers take gfx942." in Page.at(dist / "index.html").text_of("p")
    texts = Page.at(dist / "static/index.html").text_of("p")
    assert "This index does not look at your machine: choose a target by its name." in texts
    assert not [text for text in texts if "is chosen" in text]


def test_what_is_said_of_a_file(dist: Path) -> None:
    (article,) = [text for text in Page.at(dist / "index.html").text_of("article") if text.startswith(DEVICES[0])]
    digest = hashlib.sha256(DEVICES[0].encode()).hexdigest()
    said = f"{DEVICES[0]} Size 50.0 MB (50,000,000 bytes) SHA-256 {digest} Python >=3.9 Licence MIT"
    assert article == f"{said} Requires rocm-sdk-libraries==7.0 Metadata core metadata Project Source"


def test_the_commands(dist: Path) -> None:
    assert Page.at(dist / "index.html").text_of("pre") == [
        'pip install --index-url INDEX/simple/ "rocm[device]==7.0"',
        'uv pip install --default-index INDEX/simple/ "rocm[device]==7.0"',
        'uv add --index INDEX/static/simple/ "rocm[device-gfx942]==7.0"',
        'pip install --no-index --find-links DIRECTORY "rocm[device]==7.0"',
    ]
    assert Page.at(dist / "static/index.html").text_of("pre") == [
        'pip install --index-url INDEX/simple/ "rocm[device-gfx942]==7.0"',
        'uv pip install --default-index INDEX/simple/ "rocm[device-gfx942]==7.0"',
        'pip install --no-index --find-links DIRECTORY "rocm[device-gfx942]==7.0"',
    ]


def test_thin_packages_are_asked_for_by_target(tmp_path: Path) -> None:
    dist = Sample(tmp_path).add_thin_sdk().build()
    page, static = (Page.at(dist / name) for name in ("index.html", "static/index.html"))
    for text in [
        "gfx90a rocm[libraries-gfx90a] rocm-sdk-libraries-gfx90a 250 MB",
        "gfx1030 rocm[libraries-gfx1030] rocm-sdk-libraries-gfx1030 150 MB",
    ]:
        assert text in rows(page)
        assert text in rows(static)
    brings = "rocm[libraries] rocm-sdk-core, the package for the machine's GPU 550 MB to 650 MB"
    assert brings in rows(page)
    assert brings not in rows(static)
    assert 'pip install --index-url INDEX/simple/ "rocm[libraries]==7.0"' in page.text_of("pre")
    assert "On a machine without a GPU, installers take gfx90a." in page.text_of("p")
    assert 'pip install --index-url INDEX/simple/ "rocm[libraries-gfx90a]==7.0"' in static.text_of("pre")


def test_addresses_that_are_none_of_pages_are_no_links(tmp_path: Path) -> None:
    sample = Sample(tmp_path).add("a-7.0-py3-none-any.whl", "Project-URL: Bad, javascript:alert(1)")
    page = Page.at(sample.build() / "index.html")
    assert "Bad: javascript:alert(1)" in page.text_of("li")
    assert not [link for link in page.attributes("a") if "javascript" in link["href"]]


@pytest.mark.parametrize("option", ["--style", "--script"])
def test_a_style_or_script_that_would_end_its_element_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    bad = tmp_path / "bad"
    bad.write_text("</style></script>")
    sample = Sample(tmp_path).add("a-7.0-py3-none-any.whl")
    sample.arguments = [one for one in sample.arguments if not one.startswith(f"{option}=")] + [f"{option}={bad}"]
    assert sample.run() == 1
    assert f"the page's {option[2:]} holds `</`" in capsys.readouterr().err


ODD = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=30)
ODDEST = ODD | st.sampled_from(["<script>alert(1)</script>", "\"'><b>", "&amp;&lt;", "</title>", "--><!--", "]]>"])
ADDRESS = 'https://example.com/?a=<"&b='
STYLE, SCRIPT = "p { color: red }", "let a = 1 < 2;"


def odd_index(name: str, summary: str = "s", license_text: str = "l", label: str = "u", python: str = ">=3") -> Index:
    """Return an index of one distribution, as no metadata would let it through."""
    distribution = Distribution(
        filename=f"{name}.whl",
        size=1,
        sha256="ab",
        metadata_sha256="cd",
        directory="",
        project=NormalizedName(name.lower()),
        version=Version("1"),
        summary=summary,
        requires_python=python,
        license=license_text,
        urls=((label, ADDRESS),),
    )
    return Index.of("", [distribution])


def elements(page: Page) -> list[str]:
    return [tag for tag, _ in page.elements]


def folded(text: str) -> str:
    return " ".join(text.split())


@settings(max_examples=50, deadline=None)
@given(name=ODDEST, title=ODDEST, summary=ODDEST, license_text=ODDEST, label=ODDEST, python=ODDEST)
def test_whatever_texts_are_they_come_back_as_texts(
    name: str, title: str, summary: str, license_text: str, label: str, python: str
) -> None:
    """The names of files, too, though no distribution could have most of these."""
    index, plain = odd_index(name, summary, license_text, label, python), odd_index("plain")
    page = Page.of(people_page(Site(title, STYLE, SCRIPT), index, None, None))
    assert elements(page) == elements(Page.of(people_page(Site("t", STYLE, SCRIPT), plain, None, None)))
    assert page.text_of("h1") == [folded(title)]
    assert folded(summary) in page.text_of("td")
    assert {folded(license_text), folded(python)} <= set(page.text_of("dd"))
    assert {"href": ADDRESS, "rel": "noreferrer"} in page.attributes("a")
    assert folded(label) in page.text_of("a")
    flat = Page.of(find_links_page(index))
    assert elements(flat) == elements(Page.of(find_links_page(plain)))
    project = Page.of(project_page(index, name.lower()))
    for one in (page, flat, project):
        assert [link["data-requires-python"] for link in one.file_links()] == [python]
        assert folded(f"{name}.whl") in one.text_of("a")
    assert Page.of(project_list_page(index)).text_of("a") == [folded(name.lower())]
