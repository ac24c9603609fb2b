"""The pages of a stream, as functions of the channel's state: the same state has the same pages.

Paths are relative to the stream: links lead from there to the store beside it.
"""

import json
from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

from lib.common.command import FoundError
from lib.index import landing_page
from lib.index.landing_page import Site
from lib.index.lock_files import lock_file
from lib.index.model import Distribution, VariantList
from lib.index.selector import parse_selector
from lib.index.simple_api import SIMPLE
from lib.index.site_pages import site_pages
from wheels.channel.model import Channel, File

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


def project_order(files: Sequence[File]) -> list[str]:
    """Return the projects of files so that each comes behind those that the files require of it.

    Raises FoundError for projects that require each other: their pages cannot change one by one.
    """
    needs: dict[str, set[str]] = {file.project: set() for file in sorted(files, key=lambda one: one.project)}
    for file in files:
        needs[file.project] |= ({need.project for need in file.needs} & needs.keys()) - {file.project}
    try:
        return list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        raise FoundError(
            f"these projects require each other: {' -> '.join(error.args[1])}. A bucket shows pages one by one, and "
            "each has to be closed; let one of them require less, or use a directory"
        ) from None


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
