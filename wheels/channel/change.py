"""Carries out changes: under a lock, in an order in which each state in between is closed, and again after a kill.

change(place, wait, lambda channel: retire(channel, …))

`wheels.channel.model` has the order and its reasons.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from lib.common.program import ToolError, size_text
from lib.index import landing_page
from lib.index.landing_page import Site
from lib.index.lock_files import lock_file
from lib.index.model import Distribution, VariantList
from lib.index.selector import parse_selector
from lib.index.simple_api import PROVENANCE_SUFFIX
from lib.index.site_pages import page_order, site_pages
from wheels.channel.local_files import LocalFile
from wheels.channel.locks import ChannelLock, locked
from wheels.channel.model import CHANNEL, JOURNAL, METADATA_SUFFIX, STORE, Channel, from_json
from wheels.channel.place import Place
from wheels.channel.plan import SHRINK, ChannelChange

_PAGE_FILES: Final = Path(landing_page.__file__).parent


def read_channel(place: Place, new: Channel | None = None) -> tuple[Channel, str]:
    """Return the state, and the token of its file; or `new`. Raises ToolError if there is neither."""
    if there := place.read(CHANNEL):
        return from_json(there.content, f"{place.shown}/{CHANNEL}"), there.token
    if new:
        return new, ""
    init = f"rocm-wheels channel init --channel {place.shown} --stream nightly"
    raise ToolError(f"{place.shown}: is not a channel: it has no {CHANNEL}. Make it: {init}")


def change(
    place: Place, wait: float, plan: Callable[[Channel], ChannelChange], clock: Callable[[], float] = time.time
) -> ChannelChange:
    """Carry out what a function makes of the present state; return it.

    Files are sent first, without the lock: whoever sends gigabytes keeps nobody waiting. Then the function is asked
    again, under the lock. Raises ToolError as the function and the place do.
    """
    _send(place, plan(read_channel(place)[0]).uploads)
    with locked(place, wait) as lock:
        channel = recover(place, lock, clock)
        made = plan(channel)
        if made.after == channel:
            return made
        _send(place, made.uploads)  # Somebody may have deleted what was there.
        if place.is_ordered:  # Raises ToolError if packages require each other: no order of pages would do.
            page_order((), [made.after.files[name] for name in made.names])
        lock.renew()
        place.write(JOURNAL, _journal(made), None)
        return _finish(place, lock, made, clock)


def recover(place: Place, lock: ChannelLock, clock: Callable[[], float] = time.time) -> Channel:
    """Complete what an interrupted command has begun; return the present state."""
    channel, journal = read_channel(place)[0], place.read(JOURNAL)
    if journal is None:
        return channel
    made = _read_journal(journal.content, f"{place.shown}/{JOURNAL}")
    if made.after.serial != channel.serial + 1:
        place.delete([JOURNAL])  # Everything except this was done.
        return channel
    print(f"completing change {made.after.serial}, which was interrupted", file=sys.stderr)
    return _finish(place, lock, made, clock).after


def _journal(made: ChannelChange) -> bytes:
    document = {"streams": made.streams, "names": made.names, "deletes": made.deletes, "now": made.now}
    return json.dumps({**document, "after": made.after.document()}).encode()


def _read_journal(content: bytes, where: str) -> ChannelChange:
    try:
        document = json.loads(content)
        after = from_json(json.dumps(document["after"]).encode(), where)
        names, deletes = tuple(document["names"]), tuple(document["deletes"])
        return ChannelChange(after, document["streams"], names, deletes=deletes, now=document.get("now"))
    except (ValueError, KeyError, TypeError) as error:
        raise ToolError(f"{where}: is not a journal of a channel: {error!r}. Move it away") from None


def _finish(place: Place, lock: ChannelLock, made: ChannelChange, clock: Callable[[], float]) -> ChannelChange:
    """Write pages, the state, and delete; from the journal on, this may be done again after a kill.

    Until now a page may have listed what the change unlists. So what that requires goes later by as much.
    """
    before, token = read_channel(place)
    for stream in made.streams:
        place.publish(stream, made.after.serial, _pages(place, lock, before, made, stream))
    lock.renew()
    done = made
    if made.now is not None:
        done = replace(made, after=made.after.later(made.now, max(0, int(clock()) - made.now)))
    place.write(CHANNEL, done.after.to_json(), token)
    place.delete([JOURNAL, *made.deletes])
    return done


def _pages(
    place: Place, lock: ChannelLock, before: Channel, made: ChannelChange, stream: str
) -> Iterator[tuple[str, bytes | None]]:
    """Yield the pages of a stream, and None for those that go, in the order in which they may change one by one."""
    pages = stream_pages(made.after, stream)
    paths = list(pages)
    if place.is_ordered:
        shrinks = made.streams[stream] == SHRINK
        files = (before if shrinks else made.after).files
        listed = [files[name] for name in made.names if name in files]
        paths = page_order({*pages, *place.pages(stream)}, listed)[:: -1 if shrinks else 1]
    for path in paths:
        lock.renew()
        yield path, pages.get(path)


def stream_pages(channel: Channel, name: str) -> dict[str, bytes]:
    """Return the content of all pages of a stream, by path below it; those for people show the newest build.

    It follows from the state alone. Links lead to the store beside the stream.
    """
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
    style, script = ((_PAGE_FILES / one).read_text(encoding="utf-8") for one in ("page.css", "page.js"))
    pages = site_pages(
        Site(f"{channel.title} {name}", style, script),
        [one for one in listed if isinstance(one, Distribution)],
        [one for one in listed if isinstance(one, VariantList)],
        selector,
        shown=newest.files if newest else (),
    )
    return {path: text.encode() for path, text in (pages | locks).items()}


def _send(place: Place, files: Sequence[LocalFile]) -> None:
    """Send the files, core metadata and provenance that the store lacks."""
    there = place.list(STORE) if files else {}

    def lacks(path: str, size: int) -> bool:
        return path not in there or there[path].size != size

    for one in files:
        path = one.file.path + METADATA_SUFFIX
        if one.metadata and lacks(path, len(one.metadata)):
            place.write(path, one.metadata)
        path = one.file.path + PROVENANCE_SUFFIX
        if one.provenance and lacks(path, len(one.provenance)):
            place.write(path, one.provenance)
    missing = [one for one in files if lacks(one.file.path, one.file.size)]
    for number, one in enumerate(missing, 1):
        place.upload(one)
        title = f"{number}/{len(missing)} {one.file.filename}: {size_text(one.file.size)}"
        print(f"sent   {title}", file=sys.stderr)
