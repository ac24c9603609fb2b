"""All pages of a package index: for installers, as HTML and JSON, and landing pages for people.

site_pages(Site("ROCm", style, script), distributions, variants, selector)["gfx942/simple/rocm/index.json"]
"""

import json
import posixpath
from collections.abc import Collection, Sequence
from dataclasses import replace

from lib.index.downloads import find_offers
from lib.index.landing_page import Site, people_page
from lib.index.model import STATIC, Distribution, Index, VariantList, indexes
from lib.index.selector import Selector
from lib.index.simple_api import api_pages, find_links_page

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
