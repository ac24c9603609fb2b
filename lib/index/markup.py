"""HTML pages as trees of elements, so that nothing goes unescaped.

    html_page("Links", [element(a, "rocm", href="rocm/")])

The trees are dominate's. Elements within a line of text are made by `inline`: around others, the page gets line
breaks, which a browser would show as spaces.
"""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from dominate.dom_tag import dom_tag
from dominate.tags import body, caption, head, html, link, meta, style, table, tbody, td, th, thead, title, tr
from dominate.util import raw

from lib.common.program import ToolError

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


def page_head(style_text: str, script_text: str = "") -> list[dom_tag]:
    """Return what is in the head of a page with such a style sheet and script: its looks, and that it loads nothing.

    The script itself is not in the head. Raises ToolError for a style sheet that could not stand in a page.
    """
    scripts = _source(script_text) if script_text else "'none'"
    policy = f"default-src 'none'; img-src data:; style-src {_source(style_text)}; script-src {scripts}"
    return [
        meta(http_equiv="Content-Security-Policy", content=f"{policy}; base-uri 'none'; form-action 'none'"),
        meta(name="viewport", content="width=device-width, initial-scale=1"),
        meta(name="color-scheme", content="light dark"),
        link(rel="icon", href="data:,"),  # or browsers ask the server for one
        embedded(style, style_text),
    ]


def _source(text: str) -> str:
    """Return what allows an embedded text (Content Security Policy 3, "hash-source")."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def embedded(kind: type[dom_tag], text: str) -> dom_tag:
    """Return an element whose text the browser takes as it is, up to the first `</`; ToolError if there is one."""
    if "</" in text:
        raise ToolError(f"the page's {kind.__name__} holds `</`, which would end it; expected a text without that")
    return kind(raw(text))


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    title: str
    #: What the style sheet goes by: `name`, `about`, `version`, `size`, `number` or `mark`.
    kind: str = "about"


def table_of(
    about: str, columns: Sequence[Column], rows: Iterable[Sequence[Content]], *, is_wide: bool = False
) -> dom_tag:
    """Return a table; the first cell of a row is its header. A wide one scrolls in itself on a narrow screen.

    The roles are those that the elements have anyway: on a narrow screen the style sheet lays them out as blocks, which
    makes some browsers forget them.
    """
    heads = [th(one.title, scope="col", role="columnheader", cls=one.kind) for one in columns]
    return table(
        caption(about),
        thead(tr(*heads, role="row"), role="rowgroup"),
        tbody(*(_row(columns, cells) for cells in rows), role="rowgroup"),
        role="table",
        **({"cls": "wide", "tabindex": "0"} if is_wide else {}),
    )


def _row(columns: Sequence[Column], cells: Sequence[Content]) -> dom_tag:
    header, *others = zip(columns, cells, strict=True)
    return tr(
        th(header[1], scope="row", role="rowheader", cls=header[0].kind),
        *(td(cell, role="cell", cls=column.kind) for column, cell in others),
        role="row",
    )
