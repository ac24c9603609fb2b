"""All pages of a package index: for installers, as HTML and JSON, and landing pages for people.

site_pages(Site("ROCm", style, script), distributions, variants, selector)["gfx942/simple/rocm/index.json"]
"""

import json
import posixpath
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

from lib.common.command import FoundError
from lib.index.downloads import find_offers
from lib.index.landing_page import Site, people_page
from lib.index.model import STATIC, Distribution, Index, VariantList, indexes
from lib.index.selector import Selector
from lib.index.simple_api import SIMPLE, api_pages, find_links_page

INDEX_JSON = "index.json"
INDEX_HTML = "index.html"


def site_pages(
    site: Site,
    distributions: Sequence[Distribution],
    variants: Sequence[VariantList],
    selector: Selector | None,
    *,
    uploaded: int = 0,
    shown: Collection[str] | None = None,
) -> dict[str, str]:
    """Return the pages by path.

    `uploaded` is the time of files that have none, in seconds since 1970. Landing pages show the files that `shown`
    names, or all; an index without any of them has no landing page.
    """
    found: dict[str, str] = {}
    listed = indexes(distributions, variants)
    for index in listed:
        found[posixpath.join(index.directory, "find-links.html")] = find_links_page(index)
        for directory, page, document in api_pages(index, uploaded):
            found[posixpath.join(directory, INDEX_HTML)] = page
            text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
            found[posixpath.join(directory, INDEX_JSON)] = text
    if shown is not None:
        distributions = [one for one in distributions if one.filename in shown]
        own = (
            Index.of(one.directory, [it for it in one.distributions if it.filename in shown], one.variants)
            for one in listed
        )
        listed = [index for index in own if index.distributions]
    apart = [index.directory for index in listed if index.directory]
    main = replace(site, other=STATIC if STATIC in apart else "", targets=tuple(one for one in apart if one != STATIC))
    for index in listed:
        # What is static says what the sdist offers; split wheels of other targets say nothing here.
        told = [one for one in distributions if one.directory in ("", STATIC, index.directory)]
        here = replace(site, other="..") if index.directory else main
        page = people_page(here, index, find_offers(told, index, selector), selector)
        found[posixpath.join(index.directory, INDEX_HTML)] = page
    return found


def page_order(paths: Iterable[str], files: Sequence[Distribution]) -> list[str]:
    """Return paths of pages in the order in which they may begin to list files, one by one; backwards, cease to.

    The pages of a project come behind those that its files require, then pages that lead to several projects. Raises
    FoundError for projects that require each other.
    """
    needs: dict[str, set[str]] = {file.project: set() for file in sorted(files, key=lambda one: one.project)}
    for file in files:
        needs[file.project] |= ({need.project for need in file.needs} & needs.keys()) - {file.project}
    try:
        places = {project: place for place, project in enumerate(TopologicalSorter(needs).static_order())}
    except CycleError as error:
        raise FoundError(
            f"these projects require each other: {' -> '.join(error.args[1])}. A bucket shows pages one by one, and "
            "each has to be closed; let one of them require less, or use a directory"
        ) from None

    def key(path: str) -> tuple[int, int, str]:
        parts = path.split("/")
        if len(parts) > 2 and parts[-3] == SIMPLE:
            return 0, places.get(parts[-2], -1), path
        return 1 if len(parts) > 1 and parts[-2] == SIMPLE else 2, 0, path

    return sorted(paths, key=key)
