"""A promotion that is killed at any step: the release is closed at each, and the next call completes it."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.version import Version

from develop.testing.channel_sample import NOW, MemoryPlace, broken, build, sound, wheel, write
from wheels.channel.change import change
from wheels.channel.check import check
from wheels.channel.local_files import read_local
from wheels.channel.model import Channel, StreamState
from wheels.channel.plan import add
from wheels.channel.promotion.plan import Request, choose

RC, NEW = "1.0rc1", "1.0"


class KilledError(BaseException):
    """Stands for the end of the process."""


def killing_after(steps: int, look: Callable[[], None]) -> Callable[[], None]:
    """Return a function that looks, and ends the process after so many calls."""
    left = [steps]

    def step() -> None:
        look()
        left[0] -= 1
        if left[0] < 0:
            raise KilledError

    return step


@pytest.mark.parametrize("first", range(0, 60, 3))
def test_a_release_is_closed_at_every_step(tmp_path: Path, first: int) -> None:
    place = MemoryPlace()
    streams = {"rc": StreamState(), "stable": StreamState()}
    place.write("channel.json", Channel(0, "Acme", 9, 0, "", streams).to_json())
    name, data = wheel("torch", f"2.0+{RC}", f"Requires-Dist: acme=={RC}")
    candidate = [build(tmp_path / "rc", RC), write(tmp_path / "torch", [(name, sound(data))])]
    files = read_local(candidate)
    before = change(place, 0, lambda channel: add(channel, "rc", files, NOW)).after
    given = read_local([build(tmp_path / "new", NEW)])
    seen: list[str] = []

    def promote(scratch: Path) -> None:
        scratch.mkdir()
        chosen = choose(before, Request("rc", "stable", Version(RC)))
        change(place, 0, chosen.prepare(place, given, scratch, int(time.time())))

    def look() -> None:
        seen.extend([*broken(place.objects, "rc"), *broken(place.objects, "stable")])

    place.step = killing_after(first, look)
    try:
        promote(tmp_path / "killed")
    except KilledError:
        place.objects.pop("lock.json", None)  # As a lock of a process that has ended.
        place.step = look
        promote(tmp_path / "again")
    look()
    assert seen == []
    channel, complaints = check(place)
    assert complaints == []
    [release] = channel.streams["stable"].builds
    assert len(release.files) == 4
    assert release.promoted is not None
    assert [path for path in place.objects if "promotion-" in path] == [release.promoted.proof]
