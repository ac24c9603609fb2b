"""Tests of the plot, read back: bars that lie end to end, to scale, and what says what they are."""

import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from develop.testing.size_report_sample import MB, ROOM, File, library, package, thin_sdk
from tools.actions.size_report.chart import LEFT_OUT, PARTS, draw, svg_document, svg_text
from tools.actions.size_report.measure import measure

NAMESPACE = {"svg": "http://www.w3.org/2000/svg"}
STYLE = (ROOM / "chart.css").read_text()


def read(text: str) -> ET.Element:
    """Read a plot as a viewer does."""
    return ET.fromstring(text)


def bars(plot: ET.Element, part: str) -> dict[str, tuple[float, float, float]]:
    """Return where the bars of a part begin and end, and their tops, by what they say of themselves."""
    found = {}
    for bar in plot.iterfind(f".//svg:g[@class='series {part}']/svg:rect", NAMESPACE):
        left = float(bar.attrib["x"])
        title = bar.findtext("svg:title", namespaces=NAMESPACE)
        found[title or ""] = (left, left + float(bar.attrib["width"]), float(bar.attrib["y"]))
    return found


def test_bars_say_what_they_are() -> None:
    plot = read(svg_text(draw(measure(thin_sdk()))))
    assert list(bars(plot, "device")) == [
        "rocm-sdk-libraries-gfx90a, device: 117 MB",
        "rocm-sdk-libraries-gfx1030, device: 357 MB",
        "rocm-sdk-core, device: 0 bytes",
    ]
    assert "rocm-sdk-libraries-gfx1030, left out: for other targets: 112 MB" in bars(plot, "left-out")


def test_parts_of_a_bar_lie_end_to_end_and_to_scale() -> None:
    plot = read(svg_text(draw(measure(thin_sdk()))))
    parts = [list(bars(plot, part.name).values())[1] for part in (*PARTS, LEFT_OUT)]
    assert parts[0][0] == 0
    for before, after in pairwise(parts):
        assert after[0] == pytest.approx(before[1], abs=0.011)
    widths = [end - start for start, end, _ in parts]
    scale = widths[0] / (357 * MB)
    assert widths == pytest.approx([size * MB * scale for size in (357, 45, 1, 112)], abs=0.011)
    assert len({top for _, _, top in parts}) == 1


def test_packages_are_in_their_order_from_the_top() -> None:
    plot = read(svg_text(draw(measure(thin_sdk()))))
    tops = [top for _, _, top in bars(plot, "host").values()]
    assert tops == sorted(tops, reverse=True)
    assert next(iter(bars(plot, "host"))).startswith("rocm-sdk-libraries-gfx90a")


def test_the_legend_tells_of_what_is_left_out_only_where_something_is() -> None:
    fat = svg_text(draw(measure([package("core", "rocm_sdk_core", [library("lib/a.so", 9, {"gfx90a": 5})])])))
    for text, expected in ((fat, 3), (svg_text(draw(measure(thin_sdk()))), 4)):
        legends = [one for one in read(text).iter(f"{{{NAMESPACE['svg']}}}g") if "legend" in one.get("class", "")]
        assert len(legends) == expected


def test_the_plot_of_packages_that_are_not_for_gpus_has_no_word_of_them() -> None:
    acme = package("core", "acme_core", [library("lib/a.so", 9, {}), File("share/a", 5)])
    plot = read(svg_text(draw(measure([acme]))))
    assert [*bars(plot, "device"), *bars(plot, "host"), *bars(plot, "data")] == [
        "acme-core, code: 9 bytes",
        "acme-core, data: 5 bytes",
    ]
    legends = ["".join(one.itertext()) for one in plot.iterfind(".//svg:g[@class='legend host']", NAMESPACE)]
    assert legends == ["code"]


def test_packages_without_a_byte_can_be_drawn() -> None:
    plot = read(svg_text(draw(measure([package("meta", "rocm_meta", [])]))))
    assert list(bars(plot, "data")) == ["rocm-meta, data: 0 bytes"]


def test_the_file_has_its_style_and_a_name_for_those_who_cannot_see_it() -> None:
    root = read(svg_document(draw(measure(thin_sdk())), STYLE))
    assert root.findtext("svg:style", namespaces=NAMESPACE) == STYLE
    assert (root.get("role"), root.get("aria-labelledby")) == ("img", "plot-title plot-about")
    named = {one.get("id"): one.text for one in root if one.get("id")}
    assert named["plot-title"] == "Sizes of packages, installed"
    assert "rocm-sdk-libraries-gfx1030: 403 MB" in str(named["plot-about"])
    assert (root.get("width"), root.get("height")) == tuple(root.attrib["viewBox"].split()[2:])


def test_the_style_sheet_knows_every_part() -> None:
    for part in (*PARTS, LEFT_OUT):
        assert STYLE.count(f"svg.sizes .{part.name} rect {{") == 2, "by day and by night"
        assert f"svg.sizes .{part.name} rect {{ fill: {part.color}; }}" in STYLE
