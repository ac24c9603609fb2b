"""HTML pages as trees of elements, so that nothing goes unescaped.

    html_page("Links", [element(a, "rocm", href="rocm/")])

The trees are dominate's. Elements within a line of text are made by `inline`: around others, the page gets line
breaks, which a browser would show as spaces.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dominate.dom_tag import dom_tag
from dominate.tags import body, caption, head, html, meta, table, tbody, td, th, thead, title, tr

#: What an element may hold.
Content: TypeAlias = dom_tag | str


def inline(kind: type[dom_tag], *content: Content, **attributes: str) -> dom_tag:
    """Return an element that stands within a line of text."""
    return kind(*content, __inline=True, **attributes)


def html_page(name: str, content: Iterable[Content], *, metadata: Iterable[dom_tag] = ()) -> str:
    """Return a page: its title, what its body holds, and further elements of its head."""
    top = head(meta(charset="utf-8"), *metadata, title(name))
    page = html(top, body(*content), lang="en")
    return f"<!DOCTYPE html>\n{page.render(indent=' ')}\n"


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    title: str
    #: What the style sheet goes by: `name`, `about`, `version` or `size`.
    kind: str = "about"


def table_of(about: str, columns: Sequence[Column], rows: Iterable[Sequence[Content]]) -> dom_tag:
    """Return a table; the first cell of a row is its header.

    The roles are those that the elements have anyway: on a narrow screen the style sheet lays rows out as blocks, which
    makes some browsers forget them.
    """
    heads = [th(one.title, scope="col", role="columnheader", cls=one.kind) for one in columns]
    return table(
        caption(about),
        thead(tr(*heads, role="row"), role="rowgroup"),
        tbody(*(_row(columns, cells) for cells in rows), role="rowgroup"),
        role="table",
    )


def _row(columns: Sequence[Column], cells: Sequence[Content]) -> dom_tag:
    header, *others = zip(columns, cells, strict=True)
    return tr(
        th(header[1], scope="row", role="rowheader", cls=header[0].kind),
        *(td(cell, role="cell", cls=column.kind) for column, cell in others),
        role="row",
    )
