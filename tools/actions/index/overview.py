"""Sections of the page for people that give an overview: GPU targets, packages, and what is there for tools."""

from dominate.dom_tag import dom_tag
from dominate.tags import a, code, dd, div, dl, dt, h2, p, section

from tools.actions.index.commands import command
from tools.actions.index.files import file_id
from tools.actions.index.markup import Column, Content, inline, table_of
from tools.actions.index.model import Distribution, Index
from tools.actions.index.offers import Offers
from tools.actions.index.selector import Selector, Target
from tools.actions.index.sizes import size_text


def targets_section(index: Index, offers: Offers | None, selector: Selector | None) -> dom_tag | None:
    """Return the section on GPU targets, None where there are none."""
    if offers is None or selector is None or not selector.targets:
        return None
    columns = (Column("Target", "name"), Column("Ask for"), Column("Package"), Column("Package size", "size"))
    rows = [_target_row(index, offers, target) for target in selector.targets]
    if any(offer.chooses for offer in offers.offers):
        choice = p("Where no GPU is found, ", inline(code, selector.default_target), " is chosen.")
    else:
        choice = p("Nothing here looks at the machine: ask for a target by its name.")
    return section(
        h2("GPU targets"),
        choice,
        table_of("Each GPU target has a package with the code for it.", columns, rows),
        id="targets",
    )


def _target_row(index: Index, offers: Offers, target: Target) -> list[Content]:
    files = index.projects().get(target.project, ())
    return [
        target.name,
        inline(code, f"{offers.front.project}[{target.extra}]"),
        _links(files) if files else target.project,
        size_text(sum(one.size for one in files)),
    ]


def packages_section(index: Index) -> dom_tag:
    """Return the section that lists all packages."""
    columns = (Column("Package", "name"), Column("What for"), Column("Version", "version"), Column("Download", "size"))
    rows: list[list[Content]] = [
        [_links((one,)), one.summary, str(one.version), size_text(one.size)] for one in index.distributions
    ]
    return section(h2("Packages"), table_of("All packages of this index.", columns, rows), id="packages")


def _links(files: tuple[Distribution, ...]) -> dom_tag:
    return inline(a, files[0].project, href=f"#{file_id(files[0])}")


def tools_section(requirement: str, other: str) -> dom_tag:
    """Return the section on what installers and other tools read; `requirement` is what an example installs."""
    rows: list[tuple[dom_tag, str]] = [
        (a("simple/", href="simple/index.html"), "the index for pip and uv: HTML, and JSON beside it as index.json"),
        (a("find-links.html", href="find-links.html"), "all files on one small page"),
    ]
    if other == "static":
        explanation = "the same packages, with the selector as a wheel that chooses nothing"
        rows.append((a("static/", href="static/index.html"), f"an index of its own for lock files: {explanation}"))
    elif other:
        rows.append((a("The main index", href=f"{other}/index.html"), "its selector looks at the machine"))
    return section(
        h2("For tools"),
        dl(*(div(dt(link), dd(text)) for link, text in rows), cls="facts-list"),
        p("This page serves for ", inline(code, "--find-links"), ", too. A copy of the directory needs no server:"),
        command(f'pip install --no-index --find-links DIRECTORY "{requirement}"'),
        id="tools",
    )
