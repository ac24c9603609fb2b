"""The section of the page for people that lists every file: what installers and auditors want to know of it."""

from dominate.dom_tag import dom_tag
from dominate.tags import a, article, code, dd, div, dl, dt, h2, h3, li, section, ul

from tools.actions.index.markup import Content, inline
from tools.actions.index.model import Distribution, Index
from tools.actions.index.simple_api import file_anchor
from tools.actions.index.sizes import size_text


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
