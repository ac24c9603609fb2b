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
    pre,
    script,
    section,
    span,
    ul,
)
from packaging.utils import canonicalize_name

from lib.common.program import counted, range_text, size_text
from lib.index.downloads import Offer, Offers
from lib.index.markup import Column, Content, embedded, html_page, inline, page_head, table_of
from lib.index.model import Distribution, Index
from lib.index.selector import Selector, TargetPackage
from lib.index.simple_api import file_anchor, variants_anchor
from lib.wheel.variant_format import DRAFT

#: What stands for the page's address. Names of projects are in lower case, so none of them holds it.
ADDRESS = "INDEX"


def install_section(index: Index, offers: Offers | None, selector: Selector | None, other: str) -> dom_tag:
    """Return the section on how to install; `other` is the directory of the static index, if there is one."""
    content = [h2("Install"), _address_note(), *_commands(example_requirement(index, offers, selector))]
    if offers is not None:
        content += [*_locked(offers, selector, other), _offers_table(index, offers, selector)]
    return section(*content, id="install")


def example_requirement(index: Index, offers: Offers | None, selector: Selector | None) -> str:
    """Return what to install, for an example: the extras that choose by the machine, else the default target's extra.

    Where nothing has extras it is the first package that no other one requires.
    """
    if offers is None:
        required = {canonicalize_name(one.name) for listed in index.distributions for one in listed.requires}
        roots = [one for one in index.distributions if one.project not in required]
        first = (roots or list(index.distributions))[0]
        return f"{first.project}=={first.version}"
    if choosing := [offer.extra for offer in offers.offers if offer.chooses]:
        return offers.requirement(*choosing)
    return offers.requirement(_default_extra(offers, selector) if selector else "")


def _default_extra(offers: Offers, selector: Selector) -> str:
    default = selector.on(offers.platform).default_target
    return next((target.extra for target in selector.targets if target.name == default), "")


def _commands(requirement: str) -> list[dom_tag]:
    return [
        h3("With pip"),
        command(f'pip install --index-url {ADDRESS}/simple/ "{requirement}"'),
        h3("With uv"),
        command(f'uv pip install --default-index {ADDRESS}/simple/ "{requirement}"'),
    ]


def _locked(offers: Offers, selector: Selector | None, other: str) -> list[dom_tag]:
    """Return how to lock: with the static index, which asks nothing of the machine that locks."""
    if other != "static" or selector is None:
        return []
    requirement = offers.requirement(_default_extra(offers, selector))
    return [
        h3("In a project with a lock file"),
        command(f'uv add --index {ADDRESS}/static/simple/ "{requirement}"'),
        p(
            "A lock file is for many machines, so it names a GPU target. The index in ",
            inline(code, "static/"),
            " does not look at the machine.",
        ),
    ]


def _address_note() -> dom_tag:
    return p(inline(code, ADDRESS), " stands for the address of this page, without the last slash.", cls="address-note")


def command(text: str) -> dom_tag:
    """Return a block with a command, in which the address of the page is marked."""
    parts: list[Content] = []
    for number, part in enumerate(text.split(ADDRESS)):
        if number:
            parts.append(inline(span, ADDRESS, cls="address"))
        parts.append(part)
    return pre(inline(code, *parts))


def _offers_table(index: Index, offers: Offers, selector: Selector | None) -> dom_tag:
    per_target = {target.extra for target in selector.targets} if selector else set()
    shown = [offer for offer in offers.offers if offer.extra not in per_target]
    columns = (Column("Install", "name"), Column("Includes"), Column("Download", "size"))
    sizes = f" Sizes are those for {offers.platform}." if len(index.platforms) > 1 else ""
    return table_of(
        f"What you can install. Combine several extras with commas, in one pair of brackets.{sizes}",
        columns,
        [
            (_requirement(offers, offer), _brings(offers, offer, selector), range_text(offer.least, offer.most))
            for offer in shown
        ],
    )


def _requirement(offers: Offers, offer: Offer) -> dom_tag:
    return inline(code, f"{offers.front.project}[{offer.extra}]" if offer.extra else str(offers.front.project))


def _brings(offers: Offers, offer: Offer, selector: Selector | None) -> str:
    """Say what an offer brings; the packages of all GPU targets count as one."""
    targets = {target.project for target in selector.on(offers.platform).targets} if selector else set()
    if offer.chooses:
        return ", ".join([*(name for name in offer.brings if name not in targets), "the package for the machine's GPU"])
    if len(targets) > 1 and targets <= set(offer.brings):
        return ", ".join([*(name for name in offer.brings if name not in targets), "the packages of all GPU targets"])
    return ", ".join(offer.brings) or "nothing else"


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
        return "depends on the machine"
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
    columns = [Column("Target", "name"), Column("Install"), Column("Package"), Column("Package size", "size")]
    # One index may have the packages of one platform alone.
    targets = [one for one in selector.targets if not selector.platforms or one.project in index.projects()]
    rows = [_target_row(index, offers, target) for target in targets]
    if len(index.platforms) > 1:
        columns.insert(3, Column("Runs on"))
        for row, target in zip(rows, targets, strict=True):
            row.insert(3, ", ".join(one.platform for one in index.projects().get(target.project, ())))
    if any(offer.chooses for offer in offers.offers):
        choice = p(
            "On a machine without a GPU, installers take ",
            inline(code, selector.on(offers.platform).default_target),
            ".",
        )
    else:
        choice = p("This index does not look at your machine: choose a target by its name.")
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
    columns = [Column("Package", "name"), Column("Summary"), Column("Version", "version"), Column("Download", "size")]
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
        explanation = "the same packages, but the selector does not look at the machine"
        rows.append((a("static/", href="static/index.html"), f"an index of its own for lock files: {explanation}"))
    elif other:
        rows.append((a("The main index", href=f"{other}/index.html"), "its selector looks at the machine"))
    for target in targets:
        explanation = f"an index of its own for machines with {target}: wheels that were split have its code alone"
        rows.append((a(f"{target}/", href=f"{target}/index.html"), explanation))
    return section(
        h2("For tools"),
        dl(*(div(dt(link), dd(text)) for link, text in rows), cls="facts-list"),
        p("This page also works with ", inline(code, "--find-links"), ". A copy of the directory needs no server:"),
        command(f'pip install --no-index --find-links DIRECTORY "{requirement}"'),
        id="tools",
    )


@dataclass(frozen=True)
class Site:
    """Settings that all landing pages share."""

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
        footer(p("Installers check the SHA-256 of every file.")),
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
    facts = [f"Version {', '.join(_versions(index))}", counted(projects, "package"), f"{size_text(size)} in all"]
    contents = [a(section.get("h2")[0][0], href=f"#{section['id']}") for section in sections]
    return header(h1(title), p(" · ".join(facts), cls="facts"), nav(*contents, aria_label="On this page"))
