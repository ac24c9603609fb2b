"""The lock of a channel, a file of the place: only one process changes the channel at a time."""

import getpass
import json
import os
import socket
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from lib.common.command import FoundError
from lib.common.documents import time_text
from wheels.channel.model import LOCK
from wheels.channel.place import ChangedError, Place, StoredText

#: Seconds after which a lock that its owner has not renewed is free.
EXPIRY: Final = 120


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
    """A lock with an owner and an expiry."""

    def __init__(self, place: Place) -> None:
        """Prepare to take it."""
        self._place = place
        owner = f"{getpass.getuser()}@{socket.gethostname()}, process {os.getpid()}"
        found = {"owner": owner, "since": time_text(time.time()), "boot": _boot(), "process": os.getpid()}
        found |= {"started": _start_time(os.getpid()), "id": uuid.uuid4().hex}
        self._content = json.dumps(found).encode()
        self._renewed = 0.0

    def acquire(self, wait: float) -> None:
        """Take it, waiting so many seconds. Raises FoundError, which names the owner, if it is not free then."""
        until, said = time.monotonic() + wait, False
        while True:
            there = self._place.read(LOCK)
            held = self._owner(there)
            if there is None or self._is_free(held):
                with suppress(ChangedError):
                    self._write(there.token if there else None)
                    return
                continue  # Somebody else was faster.
            owner = f"{held.get('owner', 'somebody')}, since {held.get('since', 'some time')},"
            if time.monotonic() >= until:
                raise FoundError(f"{self._place.shown}: {owner} is changing the channel. Call this again later")
            if not said:
                print(f"waiting for {owner}", file=sys.stderr)
                said = True
            time.sleep(0.2)

    @staticmethod
    def _owner(there: StoredText | None) -> dict[str, Any]:
        with suppress(ValueError, TypeError):
            return dict(json.loads(there.content)) if there else {}
        return {}

    def _write(self, expected: str | None) -> None:
        self._place.write(LOCK, self._content, expected)
        self._renewed = time.monotonic()

    def _is_free(self, held: dict[str, Any]) -> bool:
        """Whether the owner is gone: a process of this machine that has ended, or that did not renew the lock in time.

        Its age is by the clock of the place, so that no machine's clock matters.
        """
        if held.get("boot") == _boot() and _start_time(held.get("process", 0)) != held.get("started"):
            return True
        there = self._place.list(LOCK).get(LOCK)
        return there is not None and there.age > EXPIRY

    def renew(self) -> None:
        """Renew it if that is due. Raises ChangedError if somebody else has it."""
        if time.monotonic() - self._renewed < EXPIRY / 4:
            return
        there = self._place.read(LOCK)
        if there is None or there.content != self._content:
            raise ChangedError(LOCK)
        self._write(there.token)

    def release(self) -> None:
        """Give it back, if it is still ours."""
        there = self._place.read(LOCK)
        if there and there.content == self._content:
            self._place.delete([LOCK])


@contextmanager
def locked(place: Place, wait: float) -> Iterator[ChannelLock]:
    """Hold the lock of a channel. Raises FoundError for a ChangedError."""
    lock = ChannelLock(place)
    lock.acquire(wait)
    try:
        yield lock
    except ChangedError:
        changed = "somebody else has changed the channel meanwhile"
        raise FoundError(f"{place.shown}: {changed}. What is listed is whole; call this again") from None
    finally:
        lock.release()
