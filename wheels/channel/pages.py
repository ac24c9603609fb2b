"""The pages of a stream, as functions of the channel's state: the same state has the same pages.

Paths are relative to the stream: links lead from there to the store beside it.
"""

import json
import posixpath
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

from lib.index import landing_page
from lib.index.downloads import find_offers
from lib.index.landing_page import Site, people_page
from lib.index.model import STATIC, Distribution, Index, VariantList, indexes
from lib.index.selector import Selector, parse_selector
from lib.index.simple_api import SIMPLE, api_pages, find_links_page
from wheels.channel.lock_files import lock_of
from wheels.channel.model import Build, Channel
from wheels.channel.requirements import parse

_ROOM: Final = Path(landing_page.__file__).parent
INDEX_JSON: Final = "index.json"
INDEX_HTML: Final = "index.html"


def stream_pages(channel: Channel, name: str) -> dict[str, bytes]:
    """Return the content of all pages of a stream, by path."""
    stream = channel.streams[name]
    distributions: list[Distribution] = []
    variants: list[VariantList] = []
    for file, directory in sorted(stream.files.items()):
        listed = channel.files[file].listed(directory, stream.build_of(file).added)
        if isinstance(listed, VariantList):
            variants.append(listed)
        else:
            distributions.append(listed)
    found: dict[str, bytes] = {}
    all_indexes = indexes(distributions, variants)
    for index in all_indexes:
        found[posixpath.join(index.directory, "find-links.html")] = find_links_page(index).encode()
        for directory, page, document in api_pages(index, 0):
            found[posixpath.join(directory, INDEX_HTML)] = page.encode()
            text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
            found[posixpath.join(directory, INDEX_JSON)] = text.encode()
    newest = next((build for build in reversed(stream.builds) if not build.older), None)
    if newest is None:
        return found
    selector = parse_selector(newest.selector, f"{name}: selector") if newest.selector else None
    for target in selector.targets if selector else ():
        found[f"pylock.{target.name}.toml"] = lock_of(channel, name, newest, target)
    return found | _landing_pages(f"{channel.title} {name}", newest, all_indexes, selector)


def _landing_pages(
    title: str, newest: Build, all_indexes: Sequence[Index], selector: Selector | None
) -> dict[str, bytes]:
    """Return the pages for people, which show the newest build of a stream."""
    style, script = ((_ROOM / one).read_text(encoding="utf-8") for one in ("page.css", "page.js"))
    shown = [
        Index.of(one.directory, [it for it in one.distributions if it.filename in newest.files], one.variants)
        for one in all_indexes
    ]
    shown = [index for index in shown if index.distributions]
    everything = {one.filename: one for index in shown for one in index.distributions}.values()
    apart = tuple(one.directory for index in shown if (one := index).directory)
    pages = {}
    for index in shown:
        site = Site(title, style, script)
        if index.directory:
            site = replace(site, other="..")
        else:
            by_target = tuple(one for one in apart if one != STATIC)
            site = replace(site, other=STATIC if STATIC in apart else "", targets=by_target)
        told = [one for one in everything if one.directory in ("", STATIC, index.directory)]
        page = people_page(site, index, find_offers(told, index, selector), selector)
        pages[posixpath.join(index.directory, INDEX_HTML)] = page.encode()
    return pages


class CircleError(Exception):
    """Projects that require each other: their pages cannot change one by one."""


def project_order(channel: Channel, names: Iterable[str], projects: Collection[str]) -> list[str]:
    """Return projects so that each comes behind those that some of the files require of it.

    `names` are the files that come or go. Raises CircleError for projects that require each other.
    """
    needs: dict[str, set[str]] = {project: set() for project in sorted(projects)}
    for file in (channel.files[name] for name in names):
        wanted = {parse(text)[1] for text in file.requires}
        needs.setdefault(file.project, set()).update((wanted & needs.keys()) - {file.project})
    try:
        return list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        raise CircleError(" -> ".join(error.args[1])) from None


def page_order(pages: Iterable[str], order: Sequence[str]) -> list[str]:
    """Return the paths of pages in the order in which a stream grows; it shrinks in the other direction.

    The pages of a project come when the pages of what it requires are there, then pages that lead to several projects.
    """
    places = {project: place for place, project in enumerate(order)}

    def key(path: str) -> tuple[int, int, str]:
        parts = path.split("/")
        if len(parts) > 2 and parts[-3] == SIMPLE:
            return 0, places.get(parts[-2], -1), path
        return 1 if len(parts) > 1 and parts[-2] == SIMPLE else 2, 0, path

    return sorted(pages, key=key)
