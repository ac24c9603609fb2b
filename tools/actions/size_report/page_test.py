"""Tests of the page, read back: what it says, and that it needs nothing."""

import base64
import hashlib
import re
from dataclasses import replace

import pytest

from develop.testing.index_sample import Page
from develop.testing.size_report_sample import MB, File, library, package, thin, thin_sdk
from lib.common.program import ToolError
from lib.coverage.table import Coverage
from tools.actions.size_report.measure import MeasuredPackage, measure
from tools.actions.size_report.page import report_page, share_text

STYLE = "p { color: red }"


def text_of(packages: list[MeasuredPackage], style: str = STYLE) -> str:
    """Return the page."""
    report = measure(packages)
    return report_page(report, None, style)


def page_of(packages: list[MeasuredPackage]) -> Page:
    """Read the page."""
    return Page.of(text_of(packages))


def test_fat_against_thin() -> None:
    rows = page_of(thin_sdk()).text_of("tr")
    assert rows[0] == "Package GPU targets Device Host Data Installed Download Fat Of fat"
    navi = next(row for row in rows if row.startswith("rocm-sdk-libraries-gfx1030"))
    assert navi == "rocm-sdk-libraries-gfx1030 gfx1030 357 MB 45.0 MB 1.00 MB 403 MB 100 MB 515 MB 78.3 %"


def test_sums() -> None:
    rows = page_of(thin_sdk()).text_of("tr")
    thin_row = "Thin packages together 474 MB 90.0 MB 2.00 MB 566 MB 200 MB"
    all_row = "All packages together 474 MB 110 MB 2.00 MB 586 MB 208 MB"
    assert [row for row in rows if "together" in row.lower() and "packages" in row] == [thin_row, all_row]


def test_no_word_of_thin_where_nothing_is() -> None:
    libraries = package("libraries", "rocm_sdk_libraries", [library("lib/a.so", 10, {"gfx1030": 4, "gfx90a": 5})])
    page = page_of([libraries, package("core", "rocm_sdk_core", [File("share/a", 5)])])
    assert page.text_of("tr")[0] == "Package GPU targets Device Host Data Installed Download"
    assert not [text for text in page.text_of("p") if "Fat" in text]
    assert not [row for row in page.text_of("tr") if "Thin" in row]


def test_device_code_by_target() -> None:
    rows = [row for row in page_of(thin_sdk()).text_of("tr") if row.startswith("gfx")]
    assert rows == [
        "gfx1030 rocm-sdk-libraries-gfx1030 350 MB 7.00 MB 357 MB",
        "gfx90a rocm-sdk-libraries-gfx90a 0 bytes 7.00 MB 7.00 MB",
        "gfx90a:xnack+ rocm-sdk-libraries-gfx90a 60.0 MB 0 bytes 60.0 MB",
        "gfx90a:xnack- rocm-sdk-libraries-gfx90a 50.0 MB 0 bytes 50.0 MB",
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
        "acme-core 9.00 kB 5.00 kB 14.0 kB 6.00 kB",
        "acme-data 0 bytes 1.00 kB 1.00 kB 1.00 kB",
        "All packages together 9.00 kB 6.00 kB 15.0 kB 7.00 kB",
    ]
    assert not re.search("gpu|device|host", re.sub("<[^>]*>", "", text), re.IGNORECASE)


def test_packages_for_targets_without_code() -> None:
    report = measure([package("core", "rocm_sdk_core", [])])
    thin_alone = replace(report, packages=tuple(replace(one, targets=("gfx90a",)) for one in report.packages))
    page = Page.of(report_page(thin_alone, None, STYLE))
    assert "No package has device code." in page.text_of("p")


def test_many_targets_are_a_number() -> None:
    device = {f"gfx110{number}": 1 for number in range(4)}
    rows = page_of([package("libraries", "rocm_sdk_libraries", [library("lib/a.so", 10, device)])]).text_of("tr")
    assert rows[1].startswith("rocm-sdk-libraries 4 targets 4 bytes")


def test_what_is_not_known_is_said() -> None:
    said = "It lacks 2 files of targets that no package here is for: their sizes are not known."
    texts = page_of([thin("gfx1030", ["gfx90a", "gfx1100"], 395 * MB)]).text_of("p")
    assert [text for text in texts if text.endswith(said)]
    assert not [text for text in page_of(thin_sdk()).text_of("p") if "It lacks" in text]


def test_which_library_has_code_for_which_gpu() -> None:
    report = measure([package("libraries", "rocm_sdk_libraries", [library("lib/a.so", 10, {"gfx1030": 4})])])
    coverage = Coverage({"lib/a": ("gfx90a:xnack+", "gfx942"), "lib/<b>": ("gfx942",)})
    text = report_page(report, coverage, STYLE)
    assert {"Library gfx90a gfx942", "lib/<b> . x", "lib/a f x"} <= set(Page.of(text).text_of("tr"))
    assert "lib/&lt;b&gt;" in text
    assert "No library has device code." in Page.of(report_page(report, Coverage(), STYLE)).text_of("p")


def test_every_table_has_a_caption_and_headers() -> None:
    page = page_of(thin_sdk())
    count = len(page.attributes("table"))
    assert count == len([text for text in page.text_of("caption") if text]) == 2
    scopes = [one["scope"] for one in page.attributes("th")]
    assert scopes.count("row") == len(page.text_of("tr")) - count


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
