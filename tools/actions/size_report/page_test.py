"""Tests of the page, read back: what it says, and that it needs nothing."""

import base64
import hashlib
import re
from dataclasses import replace

import pytest

from develop.testing.index_sample import Page
from develop.testing.size_report_sample import MB, File, library, package, thin, thin_sdk
from lib.common.program import ToolError
from tools.actions.size_report.chart import draw, svg_text
from tools.actions.size_report.measure import MeasuredPackage, measure
from tools.actions.size_report.page import report_page, share_text

STYLE = "p { color: red }"


def text_of(packages: list[MeasuredPackage], style: str = STYLE) -> str:
    """Return the page."""
    report = measure(packages)
    return report_page(report, svg_text(draw(report)), style)


def page_of(packages: list[MeasuredPackage]) -> Page:
    """Read the page."""
    return Page.of(text_of(packages))


def test_fat_against_thin() -> None:
    rows = page_of(thin_sdk()).text_of("tr")
    assert rows[0] == "Package GPU targets Device Host Data Installed Download Fat Of fat"
    navi = next(row for row in rows if row.startswith("rocm-sdk-libraries-gfx1030"))
    assert re.sub("(Device|Host|Data|Installed|Download|Of fat|Fat) ", "| ", navi).split(" | ") == [
        "rocm-sdk-libraries-gfx1030 gfx1030",
        "357 MB",
        "45.0 MB",
        "1.00 MB",
        "403 MB",
        "100 MB",
        "515 MB",
        "78.3 %",
    ]


def test_sums() -> None:
    rows = page_of(thin_sdk()).text_of("tr")
    thin_row = "Thin packages together Device 474 MB Host 90.0 MB Data 2.00 MB Installed 566 MB Download 200 MB"
    all_row = "All packages together Device 474 MB Host 110 MB Data 2.00 MB Installed 586 MB Download 208 MB"
    assert [row for row in rows if "together" in row.lower() and "packages" in row] == [thin_row, all_row]


def test_no_word_of_thin_where_nothing_is() -> None:
    libraries = package("libraries", "rocm_sdk_libraries", [library("lib/a.so", 10, {"gfx1030": 4, "gfx90a": 5})])
    page = page_of([libraries, package("core", "rocm_sdk_core", [File("share/a", 5)])])
    assert page.text_of("tr")[0] == "Package GPU targets Device Host Data Installed Download"
    assert "Fat" not in page.text_of("dt")
    assert not [row for row in page.text_of("tr") if "Thin" in row]


def test_device_code_by_target() -> None:
    rows = [row for row in page_of(thin_sdk()).text_of("tr") if row.startswith("gfx")]
    assert rows == [
        "gfx1030 rocm-sdk-libraries-gfx1030 In libraries 350 MB In files 7.00 MB Together 357 MB",
        "gfx90a rocm-sdk-libraries-gfx90a In libraries 0 bytes In files 7.00 MB Together 7.00 MB",
        "gfx90a:xnack+ rocm-sdk-libraries-gfx90a In libraries 60.0 MB In files 0 bytes Together 60.0 MB",
        "gfx90a:xnack- rocm-sdk-libraries-gfx90a In libraries 50.0 MB In files 0 bytes Together 50.0 MB",
    ]


def test_packages_that_are_not_for_gpus_have_no_word_of_them() -> None:
    acme = [
        package("core", "acme_core", [library("lib/a.so", 9_000, {}), File("share/a", 5_000)], download=6_000),
        package("data", "acme_data", [File("share/b", 1_000)]),
    ]
    text = text_of(acme)
    page = Page.of(text)
    assert page.text_of("tr") == [
        "Package Code Data Installed Download",
        "acme-core Code 9.00 kB Data 5.00 kB Installed 14.0 kB Download 6.00 kB",
        "acme-data Code 0 bytes Data 1.00 kB Installed 1.00 kB Download 1.00 kB",
        "All packages together Code 9.00 kB Data 6.00 kB Installed 15.0 kB Download 7.00 kB",
    ]
    assert page.text_of("dt") == ["Code", "Data", "Installed", "Download"]
    assert not re.search("gpu|device|host", re.sub("<[^>]*>", "", text), re.IGNORECASE)


def test_packages_for_targets_without_code() -> None:
    report = measure([package("core", "rocm_sdk_core", [])])
    thin_alone = replace(report, packages=tuple(replace(one, targets=("gfx90a",)) for one in report.packages))
    page = Page.of(report_page(thin_alone, svg_text(draw(thin_alone)), STYLE))
    assert "No package has device code." in page.text_of("p")


def test_many_targets_are_a_number() -> None:
    device = {f"gfx110{number}": 1 for number in range(4)}
    rows = page_of([package("libraries", "rocm_sdk_libraries", [library("lib/a.so", 10, device)])]).text_of("tr")
    assert rows[1].startswith("rocm-sdk-libraries 4 targets Device 4 bytes")


def test_what_is_not_known_is_said() -> None:
    (about, _) = page_of([thin("gfx1030", ["gfx90a", "gfx1100"], 395 * MB)]).text_of("caption")
    assert about.endswith("Fat lacks 2 files of targets that no package here is for: their sizes are not known.")
    assert "Fat lacks" not in page_of(thin_sdk()).text_of("caption")[0]


def test_every_table_has_a_caption_and_headers() -> None:
    page = page_of(thin_sdk())
    count = len(page.attributes("table"))
    assert count == len([text for text in page.text_of("caption") if text]) == 2
    scopes = [one["scope"] for one in page.attributes("th")]
    assert scopes.count("row") == len(page.text_of("tr")) - count


def test_ids_are_unique_and_what_labels_the_plot_is_there() -> None:
    page = page_of(thin_sdk())
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    (plot,) = page.attributes("svg")
    assert set(plot["aria-labelledby"].split()) <= set(ids)


def test_the_page_loads_nothing_and_may_not() -> None:
    page = page_of(thin_sdk())
    assert not {"img", "iframe", "object", "embed", "script", "base", "form"} & {tag for tag, _ in page.elements}
    assert [link["href"] for link in page.attributes("link")] == ["data:,"]
    (policy,) = [one["content"] for one in page.attributes("meta") if "http-equiv" in one]
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    assert policy.startswith("default-src 'none';")
    assert f"style-src 'sha256-{digest}'; script-src 'none';" in policy
    assert not [attributes for _, attributes in page.elements if "style" in attributes], "the policy forbids them"


def test_a_style_sheet_that_would_end_its_element() -> None:
    with pytest.raises(ToolError, match="the page's style holds `</`"):
        text_of(thin_sdk(), "p::after { content: '</style>' }")


def test_names_do_not_become_markup() -> None:
    text = text_of([package("core", "rocm_sdk_core", [library("lib/a.so", 9, {"gfx<b>&": 4})])])
    assert "gfx<b>" not in text
    assert "gfx&lt;b&gt;&amp;" in text


def test_shares() -> None:
    assert [share_text(442, 3640), share_text(0, 5), share_text(5, 5), share_text(0, 0)] == [
        "12.1 %",
        "0.0 %",
        "100.0 %",
        "100.0 %",
    ]
