"""The pages of a stream, as functions of the channel's state: the same state has the same pages.

Paths are relative to the stream: links lead from there to the store beside it.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from lib.index import landing_page
from lib.index.landing_page import Site
from lib.index.model import Distribution, VariantList
from lib.index.selector import parse_selector
from lib.index.simple_api import SIMPLE
from lib.index.site_pages import site_pages
from wheels.channel.lock_files import lock_of
from wheels.channel.model import Channel

_ROOM: Final = Path(landing_page.__file__).parent


def stream_pages(channel: Channel, name: str) -> dict[str, bytes]:
    """Return the content of all pages of a stream, by path; those for people show the newest build."""
    stream = channel.streams[name]
    added = {file: build.added for build in stream.builds for file in build.files}
    listed = [channel.files[file].listed(directory, added[file]) for file, directory in sorted(stream.files.items())]
    newest = stream.newest
    selector = None
    locks = {}
    if newest and newest.selector:
        selector = parse_selector(json.dumps(newest.selector), f"{name}: selector")
        locks = {f"pylock.{one.name}.toml": lock_of(channel, name, newest, one) for one in selector.targets}
    style, script = ((_ROOM / one).read_text(encoding="utf-8") for one in ("page.css", "page.js"))
    pages = site_pages(
        Site(f"{channel.title} {name}", style, script),
        [one for one in listed if isinstance(one, Distribution)],
        [one for one in listed if isinstance(one, VariantList)],
        selector,
        shown=newest.files if newest else (),
    )
    return {path: text.encode() for path, text in (pages | locks).items()}


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
