"""The report as a page: sizes, and which library has code for which GPU. It needs no script and loads nothing.

report_page(report, coverage, style)
"""

from collections.abc import Sequence

from dominate.dom_tag import dom_tag
from dominate.tags import footer, h1, h2, header, main, p, section

from lib.common.program import size_text
from lib.coverage.compare import processors
from lib.coverage.table import Coverage
from lib.index.markup import Column, Content, html_page, page_head, table_of
from tools.actions.coverage.text_table import LEGEND, mark
from tools.actions.size_report.model import PackageSizes, SizeReport, Sizes, download_of, total

TITLE = "Sizes of packages"
#: More targets than these are given as a number.
NAMED_TARGETS = 3
_WORDS = (
    "Device is what GPUs run: code in libraries and programs, and files that hold nothing else. Host is the rest of "
    "libraries and programs, data all other files. Installed is the package's tree on disk."
)
#: The same where no package is for GPUs.
_PLAIN_WORDS = "Code is libraries and programs, data all other files. Installed is the package's tree on disk."
_FAT_WORDS = " Fat is what it would be with the device code for all targets, and libraries as artifacts have them."


def report_page(report: SizeReport, coverage: Coverage | None, style: str) -> str:
    """Return the page; raises ToolError for a style sheet that could not stand in a page."""
    sections = [section(h2("Packages"), p(_words(report)), _packages_table(report), id="packages")]
    if report.has_device:
        sections.append(section(h2("Device code by target"), _targets_table(report), id="targets"))
    if coverage is not None:
        sections.append(section(h2("Device code by library"), _coverage_table(coverage), id="libraries"))
    content = [
        header(h1(TITLE), p(" · ".join(_facts(report)), cls="facts")),
        main(*sections),
        footer(
            p("A kB is 1,000 bytes. The same numbers in bytes, for scripts, are in the JSON file beside this page.")
        ),
    ]
    return html_page(TITLE, content, metadata=page_head(style))


def _words(report: SizeReport) -> str:
    """Return what the titles of columns mean."""
    unknown = sum(one.unsliced.unknown_files for one in report.thin if one.unsliced)
    lacks = f" It lacks {unknown} files of targets that no package here is for: their sizes are not known."
    words = _WORDS if report.has_device else _PLAIN_WORDS
    return words + (_FAT_WORDS if report.thin else "") + (lacks if unknown else "")


def _facts(report: SizeReport) -> list[str]:
    every = report.packages
    installed = total(one.sizes for one in every).installed
    count = f"{len(every)} packages" + (f", {len(report.thin)} of them thin" if report.thin else "")
    return [count, f"{size_text(download_of(every))} download", f"{size_text(installed)} installed"]


def _packages_table(report: SizeReport) -> dom_tag:
    device = report.has_device
    titles = ["Device", "Host"] if device else ["Code"]
    titles += ["Data", "Installed", "Download"] + (["Fat", "Of fat"] if report.thin else [])
    targets = [Column("GPU targets")] if device else []
    columns = [Column("Package", "name"), *targets, *(Column(title, "number") for title in titles)]
    rows: list[list[Content]] = [
        [
            one.distribution,
            *([_targets(one)] if device else []),
            *_package_numbers(one, device=device, fat=bool(report.thin)),
        ]
        for one in report.packages
    ]
    for name, some in (("Thin packages together", report.thin), ("All packages together", report.packages)):
        if len(some) > 1:
            sums = _size_numbers(total(one.sizes for one in some), download_of(some), device=device)
            rows.append([name, *[""] * len(targets), *sums, *[""] * (len(titles) - len(sums))])
    return table_of("Each package with what it takes, installed and as a download.", columns, rows, is_wide=True)


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
    rows: list[Sequence[Content]] = []
    for package in report.packages:
        sizes = package.sizes
        for target in sizes.targets:
            code, files = sizes.code.get(target, 0), sizes.files.get(target, 0)
            rows.append([target, package.distribution, *map(size_text, (code, files, code + files))])
    if not rows:
        return p("No package has device code.")
    return table_of("Device code in each package, by the target that it was made for.", columns, rows, is_wide=True)


def _coverage_table(coverage: Coverage) -> dom_tag:
    if not coverage.libraries:
        return p("No library has device code.")
    targets = processors(coverage)
    columns = [Column("Library", "name"), *(Column(target, "mark") for target in targets)]
    rows = [[library, *(mark(coverage, library, target) for target in targets)] for library in coverage.libraries]
    about = "; ".join(f"{one}: {meaning}" for one, meaning in LEGEND.items())
    return table_of(f"For which GPU target each library has code ({about}).", columns, rows, is_wide=True)
