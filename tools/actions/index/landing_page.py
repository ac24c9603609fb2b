"""The landing page: what there is, how big it is, what it is for, and how to install it.

    people_page(Site("ROCm", style, script), index, offers, selector)

It needs nothing but itself: no script, no font, no other file. It links to the same files as the page for
`--find-links`, so that installers can read it as well. INDEX in its commands stands for its own address, which is not
known when it is written; the script, where scripts run, puts that in.
"""

from dataclasses import dataclass

from dominate.dom_tag import dom_tag
from dominate.tags import a, footer, h1, header, main, nav, p, script

from lib.common.program import size_text
from tools.actions.index.commands import example_requirement, install_section
from tools.actions.index.downloads import Offers
from tools.actions.index.markup import embedded, html_page, page_head
from tools.actions.index.model import Index
from tools.actions.index.sections import files_section, packages_section, targets_section, tools_section
from tools.actions.index.selector import Selector


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
