"""The coverage table as a page, which loads nothing, and as text: a row for each library, a column for each target."""

from collections.abc import Iterator

from dominate.dom_tag import dom_tag
from dominate.tags import dd, div, dl, dt, h1, h2, header, main, p, section, span

from lib.coverage.compare import lacks_by_processor, processors
from lib.coverage.table import Coverage
from lib.gpus.architectures import loads
from lib.gpus.families import without_features
from tools.actions.index.markup import Column, Content, html_page, inline, page_head, table_of

PLAIN, FEATURES, NONE = "x", "f", "."
LEGEND = {
    PLAIN: "has code",
    FEATURES: "only with features, such as gfx90a:xnack+",
    NONE: "has none",
}
_PREFIX = "gfx"


def codes_for(coverage: Coverage, library: str, processor: str) -> tuple[str, ...]:
    """Return the target IDs of a library's code that GPUs with the processor can load."""
    return tuple(code for code in coverage.libraries[library] if loads(code, processor))


def mark(codes: tuple[str, ...]) -> str:
    """Return what stands for the code that a library has for one processor."""
    if not codes:
        return NONE
    return PLAIN if any(code == without_features(code) for code in codes) else FEATURES


def text_table(coverage: Coverage) -> str:
    """Return the table."""
    return "\n".join(_lines(coverage)) + "\n"


def _lines(coverage: Coverage) -> Iterator[str]:
    if not coverage.libraries:
        yield "No library has device code."
        return
    columns = processors(coverage)
    prefix = _PREFIX if all(column.startswith(_PREFIX) for column in columns) else ""
    names = [column.removeprefix(prefix) for column in columns]
    width = max(len(library) for library in coverage.libraries)
    yield " ".join([f"{prefix:>{width}}", *names])
    used = set()
    for library in coverage.libraries:
        marks = [mark(codes_for(coverage, library, column)) for column in columns]
        used.update(marks)
        cells = [f"{cell:>{len(name)}}" for cell, name in zip(marks, names, strict=True)]
        yield " ".join([f"{library:<{width}}", *cells])
    yield ""
    yield "   ".join(f"{one}: {meaning}" for one, meaning in LEGEND.items() if one in used)


TITLE = "Device code"
_ABOUT = "For which GPU target each library has code: in itself, or in files of its own beside it."


def coverage_page(coverage: Coverage, style: str) -> str:
    """Return the page; raises ToolError for a style sheet that could not stand in a page."""
    count = f"{len(coverage.libraries)} libraries · {len(processors(coverage))} GPU targets"
    content = [
        header(h1(TITLE), p(count, cls="facts")),
        main(
            section(h2("Libraries"), _table(coverage), id="libraries"),
            section(h2("What targets lack"), _lacks(coverage), id="lacks"),
        ),
    ]
    return html_page(TITLE, content, metadata=page_head(style))


def _table(coverage: Coverage) -> dom_tag:
    if not coverage.libraries:
        return p("No library has device code.")
    targets = processors(coverage)
    columns = [Column("Library", "name"), *(Column(target, "mark") for target in targets)]
    rows: list[list[Content]] = [
        [library, *(_cell(target, codes_for(coverage, library, target)) for target in targets)]
        for library in coverage.libraries
    ]
    return table_of(_ABOUT, columns, rows)


def _cell(target: str, codes: tuple[str, ...]) -> Content:
    """Return a cell: the features, or other targets, that code is for which is not for the target as such."""
    label = inline(span, f"{target} ", cls="label")
    if not codes:
        return span(label, "no", cls="no")
    words = []
    for code in codes:
        words.append(code.partition(":")[2] if without_features(code) == target else code)
    return span(label, "yes" if "" in words else ", ".join(words), cls="yes")


def _lacks(coverage: Coverage) -> dom_tag:
    lacks = {target: libraries for target, libraries in lacks_by_processor(coverage).items() if libraries}
    if not lacks:
        return p("Every library has code for every target.")
    return dl(
        *(div(dt(target), dd(", ".join(libraries))) for target, libraries in lacks.items()),
        cls="facts-list",
    )
