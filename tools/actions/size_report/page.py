"""The report as a page: tables and the plot. It is one file, which needs no script and loads nothing.

report_page(report, plot, style)     # plot: the text of an SVG element
"""

from collections.abc import Sequence

from dominate.dom_tag import dom_tag
from dominate.tags import dd, div, dl, dt, figure, footer, h1, h2, header, main, p, section, span
from dominate.util import raw

from lib.common.program import size_text
from tools.actions.index.markup import Column, Content, html_page, inline, page_head, table_of
from tools.actions.size_report.model import PackageSizes, SizeReport, Sizes, download_of, total

TITLE = "Sizes of packages"
#: More targets than these are given as a number.
NAMED_TARGETS = 3
DEVICE_WORDS = (
    ("Device", "What GPUs run: code in libraries and programs, and files that hold nothing else."),
    ("Host", "The rest of libraries and programs."),
    ("Data", "All other files."),
    ("Installed", "Device, host and data: the package's tree on disk. Of devel, its tree once it is unpacked."),
    ("Download", "The wheel."),
)
#: The same where no package is for GPUs.
WORDS = (
    ("Code", "Libraries and programs."),
    ("Data", "All other files."),
    ("Installed", "Code and data: the package's tree on disk. Of devel, its tree once it is unpacked."),
    ("Download", "The wheel."),
)
FAT_WORD = (
    "Fat",
    "What it would take installed, with the device code for all targets, and libraries as artifacts have them.",
)


def report_page(report: SizeReport, plot: str, style: str) -> str:
    """Return the page; raises ToolError for a style sheet that could not stand in a page."""
    by_target = section(h2("Device code by target"), _targets_table(report), id="targets")
    content = [
        header(h1(TITLE), p(" · ".join(_facts(report)), cls="facts")),
        main(
            section(h2("Packages"), _packages_table(report), id="packages"),
            section(
                h2("Plot"),
                figure(raw(plot), tabindex="0", role="group", aria_label="Plot of the table above"),
                id="plot",
            ),
            *((by_target,) if report.has_device else ()),
            section(
                h2("Words"),
                dl(*(div(dt(word), dd(text)) for word, text in _words(report)), cls="facts-list"),
                id="words",
            ),
        ),
        footer(
            p("A kB is 1,000 bytes. The same numbers in bytes, for scripts, are in the JSON file beside this page.")
        ),
    ]
    return html_page(TITLE, content, metadata=page_head(style))


def _words(report: SizeReport) -> tuple[tuple[str, str], ...]:
    """Return what the titles of columns mean."""
    words = DEVICE_WORDS if report.has_device else WORDS
    return (*words, FAT_WORD) if report.thin else words


def _facts(report: SizeReport) -> list[str]:
    every = report.packages
    installed = total(one.sizes for one in every).installed
    count = f"{len(every)} packages" + (f", {len(report.thin)} of them thin" if report.thin else "")
    return [count, f"{size_text(download_of(every))} download", f"{size_text(installed)} installed"]


def _numbers(columns: Sequence[Column], numbers: Sequence[str]) -> list[Content]:
    """Return cells of numbers; each has its column's title, too, for narrow screens, where there is no head."""
    return [
        span(inline(span, f"{column.title} ", cls="label"), number) if number else ""
        for column, number in zip(columns, numbers, strict=True)
    ]


def _packages_table(report: SizeReport) -> dom_tag:
    device = report.has_device
    titles = ["Device", "Host"] if device else ["Code"]
    titles += ["Data", "Installed", "Download"] + (["Fat", "Of fat"] if report.thin else [])
    numbers = [Column(title, "number") for title in titles]
    columns = [Column("Package", "name"), *([Column("GPU targets")] if device else []), *numbers]
    rows: list[list[Content]] = [
        [
            one.distribution,
            *([_targets(one)] if device else []),
            *_numbers(numbers, _package_numbers(one, device=device, fat=bool(report.thin))),
        ]
        for one in report.packages
    ]
    for name, some in (("Thin packages together", report.thin), ("All packages together", report.packages)):
        if len(some) > 1:
            sums = _size_numbers(total(one.sizes for one in some), download_of(some), device=device)
            none = [""] if device else []
            rows.append([name, *none, *_numbers(numbers, sums + [""] * (len(numbers) - len(sums)))])
    return table_of(_about(report), columns, rows)


def _about(report: SizeReport) -> str:
    about = "Each package with what it takes, installed and as a download."
    unknown = sum(one.unsliced.unknown_files for one in report.thin if one.unsliced)
    if unknown:
        about += f" Fat lacks {unknown} files of targets that no package here is for: their sizes are not known."
    return about


def _targets(package: PackageSizes) -> str:
    targets = package.targets
    return ", ".join(targets) if len(targets) <= NAMED_TARGETS else f"{len(targets)} targets"


def _size_numbers(sizes: Sizes, download: int, *, device: bool) -> list[str]:
    code = (sizes.device, sizes.host) if device else (sizes.host,)
    return [size_text(one) for one in (*code, sizes.data, sizes.installed, download)]


def _package_numbers(package: PackageSizes, *, device: bool, fat: bool) -> list[str]:
    numbers = _size_numbers(package.sizes, package.download, device=device)
    if not fat:
        return numbers
    if package.unsliced is None:
        return [*numbers, "", ""]
    whole = package.unsliced.sizes.installed
    return [*numbers, size_text(whole), share_text(package.sizes.installed, whole)]


def share_text(part: int, whole: int) -> str:
    """Return a part of a whole in percent, with one decimal; nothing of nothing is all of it."""
    return f"{100 * part / whole if whole else 100:.1f} %"


def _targets_table(report: SizeReport) -> dom_tag:
    numbers = [Column(title, "number") for title in ("In libraries", "In files", "Together")]
    columns = [Column("Target", "name"), Column("Package"), *numbers]
    rows: list[list[Content]] = []
    for package in report.packages:
        sizes = package.sizes
        for target in sizes.targets:
            code, files = sizes.code.get(target, 0), sizes.files.get(target, 0)
            texts = [size_text(one) for one in (code, files, code + files)]
            rows.append([target, package.distribution, *_numbers(numbers, texts)])
    if not rows:
        return p("No package has device code.")
    return table_of("Device code in each package, by the target that it was made for.", columns, rows)
