"""The coverage table as a page: a row for each library, a column for each GPU target. It loads nothing.

coverage_page(coverage, style)
"""

from dominate.dom_tag import dom_tag
from dominate.tags import dd, div, dl, dt, h1, h2, header, main, p, section, span

from tools.actions.coverage.lacks import lacks_by_processor, processors
from tools.actions.coverage.table import Coverage
from tools.actions.coverage.text import codes_for
from tools.actions.index.markup import Column, Content, html_page, inline, page_head, table_of
from tools.lib.device.target_id import parse_target_id

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
        parsed = parse_target_id(code)
        words.append(code.partition(":")[2] if parsed.processor == target else code)
    return span(label, "yes" if "" in words else ", ".join(words), cls="yes")


def _lacks(coverage: Coverage) -> dom_tag:
    lacks = {target: libraries for target, libraries in lacks_by_processor(coverage).items() if libraries}
    if not lacks:
        return p("Every library has code for every target.")
    return dl(
        *(div(dt(target), dd(", ".join(libraries))) for target, libraries in lacks.items()),
        cls="facts-list",
    )
