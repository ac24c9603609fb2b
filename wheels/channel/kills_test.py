"""Killed at any step, in a directory and in a bucket: what is listed can be installed; the next call completes it."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from develop.testing.channel_sample import NOW, MemoryPlace, broken, build, directory_objects
from wheels.channel.change import change, read_channel
from wheels.channel.check import check
from wheels.channel.directory import DirectoryPlace
from wheels.channel.local_files import LocalFile, read_local
from wheels.channel.model import DAY, Channel, StreamState
from wheels.channel.place import Place
from wheels.channel.plan import ChannelChange, add, retire

STREAM = "nightly"


class KilledError(BaseException):
    """Stands for the end of the process."""


class KilledPlace(DirectoryPlace):
    """A directory in which a step may be the last one."""

    def __init__(self, root: Path, step: Callable[[], None]) -> None:
        """Call `step` before whatever changes the directory."""
        super().__init__(root)
        for name in ("write", "upload", "_link", "delete"):
            setattr(self, name, self._stepping(getattr(super(), name), step))

    @staticmethod
    def _stepping(work: Callable[..., None], step: Callable[[], None]) -> Callable[..., None]:
        def run(*arguments: object) -> None:
            step()
            work(*arguments)

        return run


def killing_after(steps: int) -> Callable[[], None]:
    """Return a function that ends the process after so many calls."""
    left = [steps]

    def step() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KilledError

    return step


@pytest.fixture(name="builds")
def _builds(tmp_path: Path) -> list[Path]:
    return [build(tmp_path / "builds", version) for version in ("1.0", "1.1", "1.2")]


def plans(place: Place, builds: list[Path]) -> Iterator[tuple[int, Callable[[Channel], ChannelChange]]]:
    """Yield a history: three nights, a retirement in waves, and the deletion of files; and the time of each."""
    for night, one in enumerate(builds):
        yield NOW + night * DAY, partial(_add, read_local([one]), NOW + night * DAY)
    for days in (3, 4, 5, 6):
        ages = dict.fromkeys(place.list("files/"), 9.0 * DAY)
        yield NOW + days * DAY, partial(_retire, ages, NOW + days * DAY)


def _add(files: list[LocalFile], now: int, channel: Channel) -> ChannelChange:
    return add(channel, STREAM, files, now)


def _retire(ages: dict[str, float], now: int, channel: Channel) -> ChannelChange:
    return retire(channel, STREAM, DAY, 1, now, ages)


def begin(place: Place) -> None:
    """Make a channel with one stream."""
    place.write("channel.json", Channel(0, "Acme", DAY, 600, "", {STREAM: StreamState()}).to_json())


def history(place: Place, builds: list[Path], done: list[int]) -> None:
    """Do everything that is not done yet, and count it."""
    for number, (now, plan) in enumerate(plans(place, builds)):
        if number == len(done):
            change(place, 0, plan, clock=lambda: now)  # noqa: B023 – it is called before the next one.
            done.append(number)


@pytest.mark.parametrize("first", range(0, 120, 5))
def test_a_bucket_is_closed_at_every_step(builds: list[Path], first: int) -> None:
    place = MemoryPlace()
    begin(place)
    seen: list[str] = []
    done: list[int] = []
    killing = killing_after(first)

    def step() -> None:
        seen.extend(broken(place.objects, STREAM))
        killing()

    place.step = step
    try:
        history(place, builds, done)
    except KilledError:
        place.objects.pop("lock.json", None)  # As a lock of a process that has ended.
        place.step = lambda: seen.extend(broken(place.objects, STREAM))
        history(place, builds, done)
    assert seen == []
    channel, complaints = check(place)
    assert complaints == []
    assert [sorted(one.files) for one in channel.streams[STREAM].builds] == [
        sorted(p.name for p in builds[2].iterdir())
    ]
    assert len(channel.files) == 3
    assert len(place.objects) == 1 + 2 * 3 + len([path for path in place.objects if path.startswith(STREAM)])


@pytest.mark.parametrize("first", range(0, 160, 11))
def test_a_directory_is_closed_at_every_step(tmp_path: Path, builds: list[Path], first: int) -> None:
    root = tmp_path / "channel"
    begin(DirectoryPlace(root))
    seen: list[str] = []
    done: list[int] = []
    killing = killing_after(first)

    def look() -> None:
        seen.extend(broken(directory_objects(root, STREAM), STREAM))

    def step() -> None:
        look()
        killing()

    try:
        history(KilledPlace(root, step), builds, done)
    except KilledError:
        (root / "lock.json").unlink(missing_ok=True)
        history(DirectoryPlace(root), builds, done)
        look()
    assert seen == []
    channel, complaints = check(DirectoryPlace(root))
    assert complaints == []
    assert channel == read_channel(DirectoryPlace(root))[0]
    assert len(channel.files) == 3
    assert len([path for path in (root / "files").rglob("*") if path.is_file()]) == 6
    assert list((root / ".partial").iterdir()) == []


@pytest.mark.parametrize("steps", [3, 5, 8])
def test_what_an_interrupted_command_unlisted_counts_from_its_completion(builds: list[Path], steps: int) -> None:
    place = MemoryPlace()
    begin(place)
    for night, one in enumerate(builds):
        change(place, 0, partial(_add, read_local([one]), NOW + night * DAY))
    place.step = killing_after(steps)
    now = NOW + 3 * DAY
    with pytest.raises(KilledError):
        change(place, 0, partial(_retire, {}, now), clock=lambda: now)
    assert "journal.json" in place.objects
    place.objects.pop("lock.json", None)
    place.step = lambda: None
    # Until it is completed, its pages may be the old ones: an installer has read one a second ago.
    later = now + DAY
    waiting = change(place, 0, partial(_retire, {}, later), clock=lambda: later)
    assert not [line for line in waiting.lines if line.startswith("retire ")], waiting.lines
    due = later + 600
    assert [line for line in change(place, 0, partial(_retire, {}, due), clock=lambda: due).lines if "retire " in line]
