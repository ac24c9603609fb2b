"""The plot: a bar for each package, of device, host and data, and behind them what a fat package would hold more.

    group = draw(report)
    Path("sizes.svg").write_text(svg_document(group, style))

leather makes axes, scale and legend. It has no stacked bars, but draws custom shapes: here, bars that begin where
the one before ended. What has to differ by day and by night has a class, for the style sheet.
"""

import copy
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import leather

from lib.common.program import size_text
from tools.actions.size_report.model import PackageSizes, SizeReport

WIDTH = 960
#: Pixels of a bar with the gap below it, and of all that is around bars.
BAR, AROUND = 28, 160
TITLE = "Sizes of packages, installed"
#: Namespace of SVG 1.1, which the root says for all.
SVG = "http://www.w3.org/2000/svg"


@dataclass(frozen=True)
class Part:
    """A part of each bar."""

    #: Class of its elements.
    name: str
    #: In the legend.
    about: str
    #: For viewers that know no style sheets.
    color: str
    size: Callable[[PackageSizes], int]


def _left_out(package: PackageSizes) -> int:
    """Return the bytes that a thin package does not hold of a fat one."""
    return max(0, package.unsliced.sizes.installed - package.sizes.installed) if package.unsliced else 0


PARTS = (
    Part("device", "device", "#a5281b", lambda package: package.sizes.device),
    Part("host", "host", "#2b6cb0", lambda package: package.sizes.host),
    Part("data", "data", "#b7791f", lambda package: package.sizes.data),
)
#: The same where no package is for GPUs.
WITHOUT_DEVICE = (Part("host", "code", PARTS[1].color, PARTS[1].size), PARTS[2])
LEFT_OUT = Part("left-out", "left out: for other targets", "#c3cad3", _left_out)


class _Bars(leather.Bars):  # type: ignore[misc]
    """The bars of one part; each row of the series is (end, package, start, bytes)."""

    def __init__(self, part: Part) -> None:
        super().__init__(part.color)
        self._part = part

    def to_svg(self, width: Any, height: Any, x_scale: Any, y_scale: Any, series: Any, _palette: Any) -> ET.Element:
        """Draw, as leather asks for it; each bar says its package, part and size."""
        group = ET.Element("g", {"class": f"series {self._part.name}"})
        for datum in series.data():
            end, package, start, size = datum.row
            bottom, top = y_scale.project_interval(package, height, 0)
            left, right = (x_scale.project(one, 0, width) for one in (start, end))
            places = {"x": left, "y": top, "width": right - left, "height": bottom - top}
            bar = ET.SubElement(group, "rect", {name: f"{place:.2f}" for name, place in places.items()})
            bar.set("fill", self._part.color)
            ET.SubElement(bar, "title").text = f"{package}, {self._part.about}: {size_text(size)}"
        return group

    def legend_to_svg(self, series: Any, palette: Any) -> Any:
        """Draw the legend; the style sheet colours it as the bars."""
        items = super().legend_to_svg(series, palette)
        for item, _ in items:
            item.set("class", f"legend {self._part.name}")
        return items


def draw(report: SizeReport) -> ET.Element:
    """Return the plot as an `svg` element, which scales with what is around it."""
    packages = report.packages
    parts = PARTS if report.has_device else WITHOUT_DEVICE
    parts = (*parts, LEFT_OUT) if report.thin else parts
    chart = leather.Chart(TITLE)
    chart.add_x_scale(0, max(_end(one, parts) for one in packages))
    chart.add_x_axis(tick_formatter=lambda value, _index, _count: size_text(int(value)))
    for number, part in enumerate(parts):
        chart.add_series(leather.Series(_rows(packages, parts[:number], part), name=part.about), _Bars(part))
    height = AROUND + BAR * len(packages)
    group = chart.to_svg_group(WIDTH, height)
    group[0].set("class", "paper")
    root = ET.Element("svg", {"viewBox": f"0 0 {WIDTH} {height}", "class": "sizes", "role": "img", "xmlns": SVG})
    root.set("aria-labelledby", "plot-title plot-about")
    ET.SubElement(root, "title", {"id": "plot-title"}).text = TITLE
    ET.SubElement(root, "desc", {"id": "plot-about"}).text = _description(packages)
    root.append(group)
    return root


def _rows(packages: Sequence[PackageSizes], before: Sequence[Part], part: Part) -> list[tuple[int, str, int, int]]:
    """Return the rows of a series, the first package last: leather draws from the bottom up."""
    ends = [(_end(one, before), part.size(one), one.distribution) for one in reversed(packages)]
    return [(start + size, name, start, size) for start, size, name in ends]


def _end(package: PackageSizes, parts: Sequence[Part]) -> int:
    return sum(part.size(package) for part in parts)


def _description(packages: Sequence[PackageSizes]) -> str:
    return "; ".join(f"{one.distribution}: {size_text(one.sizes.installed)}" for one in packages)


def svg_text(plot: ET.Element) -> str:
    """Return the plot as it stands in a page."""
    return ET.tostring(plot, encoding="unicode")


def svg_document(plot: ET.Element, style: str) -> str:
    """Return the plot as a file of its own, with its style sheet."""
    root = copy.deepcopy(plot)
    sheet = ET.Element("style")
    sheet.text = style
    root.insert(0, sheet)
    root.set("width", str(WIDTH))
    root.set("height", root.attrib["viewBox"].rpartition(" ")[2])
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{svg_text(root)}\n'
