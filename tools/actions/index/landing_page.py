"""The landing page: what there is, how big it is, what it is for, and how to install it.

    people_page(Site("ROCm", style, script), index, offers, selector)

It needs nothing but itself: no script, no font, no other file. It links to the same files as the page for
`--find-links`, so that installers can read it as well. INDEX in its commands stands for its own address, which is not
known when it is written; the script, where scripts run, puts that in.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from dominate.dom_tag import dom_tag
from dominate.tags import (
    a,
    article,
    code,
    dd,
    div,
    dl,
    dt,
    footer,
    h1,
    h2,
    h3,
    header,
    li,
    main,
    nav,
    p,
    script,
    section,
    ul,
)

from lib.common.program import size_text
from lib.variants.variant_format import DRAFT
from tools.actions.index.commands import command, example_requirement, install_section
from tools.actions.index.downloads import Offers
from tools.actions.index.markup import Column, Content, embedded, html_page, inline, page_head, table_of
from tools.actions.index.model import Distribution, Index
from tools.actions.index.selector import Selector, TargetPackage
from tools.actions.index.simple_api import file_anchor, variants_anchor


def files_section(index: Index) -> dom_tag:
    """Return the section."""
    return section(h2("Files"), *(_file_article(one, index.directory) for one in index.distributions), id="files")


def file_id(distribution: Distribution) -> str:
    """Return the id of a file's article: unique, as file names are, and not like the name of a file to download."""
    return f"file-{distribution.filename.replace('.', '-').replace('+', '-')}"


def _file_article(distribution: Distribution, page: str) -> dom_tag:
    facts: list[tuple[str, Content]] = [
        ("Size", f"{size_text(distribution.size)} ({distribution.size:,} bytes)"),
        ("SHA-256", inline(code, distribution.sha256)),
        ("Python", distribution.requires_python or "any"),
    ]
    if distribution.label:
        facts.insert(0, ("Wheel variant", inline(code, distribution.label)))
    if distribution.license:
        facts.append(("Licence", distribution.license))
    facts.append(("Requires", _requirements(distribution)))
    if distribution.is_wheel:
        facts.append(("Metadata", a("core metadata", href=f"{distribution.address(page)}.metadata")))
    if distribution.urls:
        facts.append(("Project", ul(*(li(_url(label, url)) for label, url in distribution.urls), cls="links")))
    rows = [div(dt(name), dd(value)) for name, value in facts]
    return article(h3(file_anchor(distribution, page)), dl(*rows, cls="facts-list"), id=file_id(distribution))


def _requirements(distribution: Distribution) -> Content:
    if "requires-dist" in distribution.dynamic:
        return "chosen when it is installed"
    if not distribution.requires:
        return "nothing"
    return ul(*(li(inline(code, str(requirement))) for requirement in distribution.requires))


def _url(label: str, url: str) -> Content:
    """Return a link, for addresses of pages only: others could make a browser do things."""
    return a(label, href=url, rel="noreferrer") if url.startswith(("https://", "http://")) else f"{label}: {url}"


def targets_section(index: Index, offers: Offers | None, selector: Selector | None) -> dom_tag | None:
    """Return the section on GPU targets, None where there are none."""
    if offers is None or selector is None or not selector.targets:
        return None
    columns = [Column("Target", "name"), Column("Ask for"), Column("Package"), Column("Package size", "size")]
    # One index may have the packages of one platform alone.
    targets = [one for one in selector.targets if not selector.platforms or one.project in index.projects()]
    rows = [_target_row(index, offers, target) for target in targets]
    if len(index.platforms) > 1:
        columns.insert(3, Column("Runs on"))
        for row, target in zip(rows, targets, strict=True):
            row.insert(3, ", ".join(one.platform for one in index.projects().get(target.project, ())))
    if any(offer.chooses for offer in offers.offers):
        choice = p("Where no GPU is found, ", inline(code, selector.on(offers.platform).default_target), " is chosen.")
    else:
        choice = p("Nothing here looks at the machine: ask for a target by its name.")
    return section(
        h2("GPU targets"),
        choice,
        table_of("Each GPU target has a package with the code for it.", columns, rows),
        id="targets",
    )


def _target_row(index: Index, offers: Offers, target: TargetPackage) -> list[Content]:
    files = index.projects().get(target.project, ())
    sized = [one for one in files if one.platform in ("", offers.platform)] or files
    return [
        target.name,
        inline(code, f"{offers.front.project}[{target.extra}]"),
        _link(sized[0]) if files else target.project,
        size_text(sum(one.size for one in sized)),
    ]


def packages_section(index: Index) -> dom_tag:
    """Return the section that lists all packages."""
    columns = [Column("Package", "name"), Column("What for"), Column("Version", "version"), Column("Download", "size")]
    others = {one.project for one in index.distributions if not one.label}
    # Wheel variants of a package are no further packages.
    shown = [one for one in index.distributions if not one.label or one.project not in others]
    rows: list[list[Content]] = [[_link(one), one.summary, str(one.version), size_text(one.size)] for one in shown]
    if len(index.platforms) > 1:
        columns.insert(2, Column("Runs on"))
        for row, one in zip(rows, shown, strict=True):
            row.insert(2, one.platform or "any")
    return section(h2("Packages"), table_of("All packages of this index.", columns, rows), id="packages")


def _link(file: Distribution) -> dom_tag:
    return inline(a, file.project, href=f"#{file_id(file)}")


def tools_section(index: Index, requirement: str, other: str, targets: Sequence[str] = ()) -> dom_tag:
    """Return the section on what installers and other tools read; `requirement` is what an example installs.

    `targets` are directories of indexes with split wheels.
    """
    rows: list[tuple[dom_tag, str]] = [
        (a("simple/", href="simple/index.html"), "the index for pip and uv: HTML, and JSON beside it as index.json"),
        (a("find-links.html", href="find-links.html"), "all files on one small page"),
    ]
    for one in index.variants:
        explanation = f"wheel variants by GPU target, for installers that know them ({DRAFT}): {', '.join(one.labels)}"
        rows.append((variants_anchor(one, index.directory), explanation))
    if other == "static":
        explanation = "the same packages, with the selector as a wheel that chooses nothing"
        rows.append((a("static/", href="static/index.html"), f"an index of its own for lock files: {explanation}"))
    elif other:
        rows.append((a("The main index", href=f"{other}/index.html"), "its selector looks at the machine"))
    for target in targets:
        explanation = f"an index of its own for machines with {target}: wheels that were split have its code alone"
        rows.append((a(f"{target}/", href=f"{target}/index.html"), explanation))
    return section(
        h2("For tools"),
        dl(*(div(dt(link), dd(text)) for link, text in rows), cls="facts-list"),
        p("This page serves for ", inline(code, "--find-links"), ", too. A copy of the directory needs no server:"),
        command(f'pip install --no-index --find-links DIRECTORY "{requirement}"'),
        id="tools",
    )


@dataclass(frozen=True)
class Site:
    """What all pages for people have in common."""

    title: str
    #: Texts of the style sheet and of the script.
    style: str
    script: str
    #: Directory of the other index, relative to this page; "" if there is none.
    other: str = ""
    #: Directories of the indexes with the split wheels for some GPUs.
    targets: tuple[str, ...] = ()


def people_page(site: Site, index: Index, offers: Offers | None, selector: Selector | None) -> str:
    """Return the landing page of an index; raises ToolError for a style or script that could not stand in a page."""
    sections = [
        install_section(index, offers, selector, site.other),
        targets_section(index, offers, selector),
        packages_section(index),
        files_section(index),
        tools_section(index, example_requirement(index, offers, selector), site.other, site.targets),
    ]
    shown = [section for section in sections if section is not None]
    content = [
        _header(site.title, index, shown),
        main(*shown),
        footer(p("Every file is as its SHA-256 says; installers check that.")),
        embedded(script, site.script),
    ]
    return html_page(_title(site.title, index), content, metadata=page_head(site.style, site.script))


def _title(title: str, index: Index) -> str:
    versions = _versions(index)
    return f"{title} {versions[0]}" if len(versions) == 1 else title


def _versions(index: Index) -> list[str]:
    return [str(version) for version in sorted({one.version for one in index.distributions})]


def _header(title: str, index: Index, sections: list[dom_tag]) -> dom_tag:
    projects, size = len(index.projects()), sum(one.size for one in index.distributions)
    facts = [f"Version {', '.join(_versions(index))}", f"{projects} packages", f"{size_text(size)} in all"]
    contents = [a(section.get("h2")[0][0], href=f"#{section['id']}") for section in sections]
    return header(h1(title), p(" · ".join(facts), cls="facts"), nav(*contents, aria_label="On this page"))
