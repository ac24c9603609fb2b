"""The pages of a stream, as functions of the channel's state: the same state has the same pages.

Paths are relative to the stream: links lead from there to the store beside it.
"""

import json
from pathlib import Path
from typing import Final

from lib.index import landing_page
from lib.index.landing_page import Site
from lib.index.lock_files import lock_file
from lib.index.model import Distribution, VariantList
from lib.index.selector import parse_selector
from lib.index.site_pages import site_pages
from wheels.channel.model import Channel

_ROOM: Final = Path(landing_page.__file__).parent


def stream_pages(channel: Channel, name: str) -> dict[str, bytes]:
    """Return the content of all pages of a stream, by path; those for people show the newest build."""
    stream = channel.streams[name]
    added = {file: build.added for build in stream.builds for file in build.files}
    listed = [
        channel.listed_file(name, file).listed(directory, added[file])
        for file, directory in sorted(stream.files.items())
    ]
    newest = stream.shown
    selector = None
    locks = {}
    if newest and newest.selector:
        selector = parse_selector(json.dumps(newest.selector), f"{name}: selector")
        own, url = [file.on_pages for file in channel.listing(name)], channel.url and f"{channel.url}{name}/"
        locks = {f"pylock.{one.name}.toml": lock_file(own, newest.files, one, url) for one in selector.targets}
    style, script = ((_ROOM / one).read_text(encoding="utf-8") for one in ("page.css", "page.js"))
    pages = site_pages(
        Site(f"{channel.title} {name}", style, script),
        [one for one in listed if isinstance(one, Distribution)],
        [one for one in listed if isinstance(one, VariantList)],
        selector,
        shown=newest.files if newest else (),
    )
    return {path: text.encode() for path, text in (pages | locks).items()}
