"""Carries out changes: under a lock, in an order in which each state in between is closed, and again after a kill.

change(place, wait, lambda channel: retire(channel, …))

`wheels.channel.model` has the order and its reasons.
"""

import getpass
import json
import os
import socket
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from lib.common.command import FoundError
from lib.common.program import ToolError, size_text
from wheels.channel.local_files import LocalFile, texts
from wheels.channel.model import CHANNEL, JOURNAL, LOCK, STORE, Channel, from_json, time_text, to_json
from wheels.channel.pages import CircleError, page_order, project_order, stream_pages
from wheels.channel.place import ChangedError, Place
from wheels.channel.plan import GROW, SHRINK, ChannelChange

#: Seconds after which a lock that its owner has not renewed is free.
EXPIRY: Final = 120
_POLL: Final = 0.2


def read_channel(place: Place) -> tuple[Channel, str]:
    """Return the state, and the token of its file. Raises ToolError if there is no channel."""
    there = place.read(CHANNEL)
    if there is None:
        raise ToolError(f"{place.shown}: is not a channel: it has no {CHANNEL}. Call rocm-wheels channel init")
    return from_json(there.content, f"{place.shown}/{CHANNEL}"), there.token


def _boot() -> str:
    """Return what tells this run of this machine from others, as far as the system says it."""
    path = Path("/proc/sys/kernel/random/boot_id")
    return path.read_text().strip() if path.exists() else socket.gethostname()


def _start_time(process: int) -> str:
    """Return when a process started, in ticks since the machine did; empty if there is none (proc(5))."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


class ChannelLock:
    """A lock with an owner and an expiry, as a file of the place: only one process changes the channel at a time."""

    def __init__(self, place: Place) -> None:
        """Prepare to take it."""
        self._place = place
        self._document = {
            "owner": f"{getpass.getuser()}@{socket.gethostname()}, process {os.getpid()}",
            "since": time_text(int(time.time())),
            "boot": _boot(),
            "process": os.getpid(),
            "started": _start_time(os.getpid()),
            "id": uuid.uuid4().hex,
        }
        self._content = json.dumps(self._document).encode()
        self._renewed = 0.0

    def acquire(self, wait: float) -> None:
        """Take it, waiting so many seconds. Raises FoundError, which names the owner, if it is not free then."""
        until, said = time.monotonic() + wait, False
        while True:
            there = self._place.read(LOCK)
            if there is None or self._is_free(there.content):
                try:
                    self._place.write(LOCK, self._content, there.token if there else None)
                except ChangedError:
                    continue  # Somebody else was faster.
                self._renewed = time.monotonic()
                return
            owner = self._shown(there.content)
            if time.monotonic() >= until:
                raise FoundError(f"{self._place.shown}: {owner} is changing the channel. Call this again later")
            if not said:
                print(f"waiting for {owner}", file=sys.stderr)
                said = True
            time.sleep(_POLL)

    def _shown(self, content: bytes) -> str:
        try:
            document = json.loads(content)
            return f"{document['owner']}, since {document['since']},"
        except (ValueError, KeyError, TypeError):
            return "somebody"

    def _is_free(self, content: bytes) -> bool:
        """Whether the owner is gone: a process of this machine that has ended, or that did not renew the lock in time.

        Its age is by the clock of the place, so that no machine's clock matters.
        """
        try:
            document = json.loads(content)
            if document["boot"] == _boot() and _start_time(document["process"]) != document["started"]:
                return True
        except (ValueError, KeyError, TypeError):
            pass
        there = self._place.list(LOCK).get(LOCK)
        return there is not None and there.age > EXPIRY

    def renew(self) -> None:
        """Renew it if that is due. Raises FoundError if somebody else has it."""
        if time.monotonic() - self._renewed < EXPIRY / 4:
            return
        there = self._place.read(LOCK)
        try:
            if there is None or there.content != self._content:
                raise ChangedError(LOCK)
            self._place.write(LOCK, self._content, there.token)
        except ChangedError:
            raise _lost(self._place) from None
        self._renewed = time.monotonic()

    def release(self) -> None:
        """Give it back, if it is still ours."""
        there = self._place.read(LOCK)
        if there and there.content == self._content:
            self._place.delete([LOCK])


def _lost(place: Place) -> FoundError:
    return FoundError(
        f"{place.shown}: somebody else has changed the channel meanwhile. What is listed is whole; call this again"
    )


@contextmanager
def locked(place: Place, wait: float) -> Iterator[ChannelLock]:
    """Hold the lock of a channel."""
    lock = ChannelLock(place)
    lock.acquire(wait)
    try:
        yield lock
    finally:
        lock.release()


def change(place: Place, wait: float, plan: Callable[[Channel], ChannelChange]) -> ChannelChange:
    """Carry out what a function makes of the present state; return it.

    Files are sent first, without the lock: whoever sends gigabytes keeps nobody waiting. Then the function is asked
    again, under the lock. Raises ToolError as the function and the place do.
    """
    channel, _ = read_channel(place)
    first = plan(channel)
    if first.uploads:
        _send(place, first.uploads)
    with locked(place, wait) as lock:
        try:
            channel = recover(place, lock)
            made = plan(channel)
            if made.after == channel:
                return made
            if made.uploads:
                _send(place, made.uploads)  # Somebody may have deleted what was there.
            _check_order(place, made)
            lock.renew()
            place.write(JOURNAL, _journal(made), None)
            _finish(place, lock, made)
        except ChangedError:
            raise _lost(place) from None
        return made


def recover(place: Place, lock: ChannelLock) -> Channel:
    """Complete what an interrupted command has begun; return the present state."""
    channel, _ = read_channel(place)
    journal = place.read(JOURNAL)
    if journal is None:
        return channel
    made = _read_journal(journal.content, f"{place.shown}/{JOURNAL}")
    if made.after.serial != channel.serial + 1:
        place.delete([JOURNAL])  # Everything except this was done.
        return channel
    print(f"completing change {made.after.serial}, which was interrupted", file=sys.stderr)
    _finish(place, lock, made)
    return made.after


def _journal(made: ChannelChange) -> bytes:
    document = {"streams": made.streams, "names": made.names, "deletes": made.deletes}
    return json.dumps({**document, "after": json.loads(to_json(made.after))}).encode()


def _read_journal(content: bytes, where: str) -> ChannelChange:
    try:
        document = json.loads(content)
        after = from_json(json.dumps(document["after"]).encode(), where)
        return ChannelChange(after, document["streams"], tuple(document["names"]), (), tuple(document["deletes"]))
    except (ValueError, KeyError, TypeError) as error:
        raise ToolError(f"{where}: is not a journal of a channel: {error!r}. Move it away") from None


def _finish(place: Place, lock: ChannelLock, made: ChannelChange) -> None:
    """Write pages, the state, and delete; from the journal on, this may be done again after a kill."""
    before, token = read_channel(place)
    for name, direction in made.streams.items():
        write_pages(place, lock, (before, made.after), name, direction, made.names)
    lock.renew()
    place.write(CHANNEL, to_json(made.after), token)
    place.delete([JOURNAL])
    place.delete(made.deletes)


def _check_order(place: Place, made: ChannelChange) -> None:
    """Raise FoundError where pages have to change one by one, and no order of them is right."""
    if place.has_links:
        return
    try:
        project_order(made.after, made.names, {made.after.files[name].project for name in made.names})
    except CircleError as error:
        raise FoundError(
            f"{place.shown}: these projects require each other: {error}. A bucket shows pages one by one, and each has "
            "to be closed; let one of them require less, or use a directory"
        ) from None


def write_pages(
    place: Place,
    lock: ChannelLock,
    states: tuple[Channel, Channel],
    name: str,
    direction: str,
    names: Sequence[str],
) -> None:
    """Write the pages of a stream as `states` have it before and after; `names` are the files that come or go."""
    before, after = states
    pages = stream_pages(after, name)
    if place.has_links:
        _write_generation(place, lock, name, after.serial, pages)
        return
    state = after if direction == GROW else before
    projects = {state.files[one].project for one in names if one in state.files}
    order = project_order(state, [one for one in names if one in state.files], projects)
    there = {path.removeprefix(f"{name}/"): found for path, found in place.list(f"{name}/").items()}
    paths = page_order({*pages, *there}, order)
    for path in paths[::-1] if direction == SHRINK else paths:
        lock.renew()
        if path in pages:
            place.write(f"{name}/{path}", pages[path], there[path].token if path in there else None)
        else:
            place.delete([f"{name}/{path}"])


def _write_generation(place: Place, lock: ChannelLock, name: str, serial: int, pages: dict[str, bytes]) -> None:
    """Write all pages of a stream beside the present ones, and then let the link lead there.

    The generation before stays for clients that are reading it.
    """
    generation = f".{name}.{serial}"
    for path, content in pages.items():
        lock.renew()
        place.write(f"{generation}/{path}", content)
    last = place.links().get(name, "")
    place.link(name, generation)
    for path in place.list(f".{name}."):
        folder = path.partition("/")[0]
        if folder not in (last, generation) and folder.removeprefix(f".{name}.").isdigit():
            place.delete([path])


def _send(place: Place, files: Sequence[LocalFile]) -> None:
    """Send the files and core metadata that the store lacks."""
    there = place.list(STORE)
    metadata = texts(files)
    missing = [one for one in files if one.file.path not in there or there[one.file.path].size != one.file.size]
    for path, content in metadata.items():
        if path not in there or there[path].size != len(content):
            place.write(path, content)
    for number, one in enumerate(missing, 1):
        title = f"{number:>{len(str(len(missing)))}}/{len(missing)} {one.file.name}: {size_text(one.file.size)}"
        if sys.stderr.isatty():
            print(f"sending  {title}", end="\r", file=sys.stderr, flush=True)
        began = time.monotonic()
        place.upload(one)
        rate = size_text(int(one.file.size / max(time.monotonic() - began, 1e-3)))
        print(f"sent     {title}, {rate}/s", file=sys.stderr)
