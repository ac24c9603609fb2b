"""The lock of a channel, its journal, and projects that a bucket cannot show one by one."""

import json
import os
from pathlib import Path

import pytest

from develop.testing.channel_sample import NOW, MemoryPlace, wheel, write
from lib.common.command import FoundError
from lib.common.program import ToolError
from wheels.channel.change import change, read_channel
from wheels.channel.local_files import read_local
from wheels.channel.locks import EXPIRY, ChannelLock, locked
from wheels.channel.model import Channel, StreamState
from wheels.channel.plan import ChannelChange, add

FOREIGN = {
    "owner": "ada@elsewhere, process 7",
    "since": "2026-01-01T00:00:00Z",
    "boot": "",
    "process": 7,
    "started": "",
}


@pytest.fixture(name="place")
def _place() -> MemoryPlace:
    place = MemoryPlace()
    place.write("channel.json", Channel(0, "Acme", 0, 0, "", {"nightly": StreamState()}).to_json())
    return place


def unchanged(channel: Channel) -> ChannelChange:
    """Change nothing."""
    return ChannelChange(channel)


def test_the_second_writer_is_told_of_the_first(place: MemoryPlace) -> None:
    place.objects["lock.json"] = json.dumps(FOREIGN).encode()
    with pytest.raises(
        FoundError, match=r"ada@elsewhere, process 7, since 2026-01-01T00:00:00Z, is changing the channel"
    ):
        change(place, 0, unchanged)
    place.ages["lock.json"] = EXPIRY + 1.0
    change(place, 0, unchanged)
    assert "lock.json" not in place.objects


def test_a_lock_of_this_machine_is_free_when_its_process_has_ended(place: MemoryPlace) -> None:
    child = os.fork()
    if not child:
        ChannelLock(place).acquire(0)
        os._exit(0)  # It wrote to its own copy of the place.
    os.waitpid(child, 0)
    with locked(place, 0):
        held = json.loads(place.objects["lock.json"])
        with pytest.raises(FoundError, match="is changing the channel"):
            ChannelLock(place).acquire(0)
    place.objects["lock.json"] = json.dumps({**held, "process": child}).encode()
    change(place, 0, unchanged)


def test_a_writer_whose_lock_was_taken_changes_nothing(place: MemoryPlace, tmp_path: Path) -> None:
    files = read_local([write(tmp_path, [wheel("acme", "1.0")])])
    before = place.objects["channel.json"]

    def overtaken() -> None:
        if "journal.json" in place.objects:
            place.objects["channel.json"] = before.replace(b"Acme", b"Other")

    place.step = overtaken
    with pytest.raises(FoundError, match="somebody else has changed the channel meanwhile"):
        change(place, 0, lambda channel: add(channel, "nightly", files, NOW))


def test_a_journal_that_was_completed_is_removed(place: MemoryPlace) -> None:
    after = json.loads(place.objects["channel.json"])
    place.objects["journal.json"] = json.dumps({"streams": {}, "names": [], "deletes": [], "after": after}).encode()
    change(place, 0, unchanged)
    assert "journal.json" not in place.objects
    place.objects["journal.json"] = b"{}"
    with pytest.raises(ToolError, match="is not a journal of a channel"):
        change(place, 0, unchanged)


def test_projects_that_require_each_other_need_a_directory(place: MemoryPlace, tmp_path: Path) -> None:
    pair = [wheel("a", "1.0", "Requires-Dist: b"), wheel("b", "1.0", "Requires-Dist: a")]
    files = read_local([write(tmp_path, pair)])
    with pytest.raises(FoundError, match=r"these projects require each other: a -> b -> a|b -> a -> b"):
        change(place, 0, lambda channel: add(channel, "nightly", files, NOW))
    assert read_channel(place)[0].files == {}


def test_what_is_no_channel() -> None:
    with pytest.raises(ToolError, match=r"has no channel.json. Make it: rocm-wheels channel init"):
        read_channel(MemoryPlace())
    place = MemoryPlace()
    place.write("channel.json", b'{"format": 2}')
    with pytest.raises(ToolError, match=r"format 2, expected 1\. Use a newer rocm-wheels"):
        read_channel(place)
