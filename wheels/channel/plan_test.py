"""Adding and retiring, as plans."""

from pathlib import Path

import pytest

from develop.testing.channel_sample import NOW, build, wheel, write
from lib.common.command import FoundError
from wheels.channel.local_files import LocalFile, read_local
from wheels.channel.model import DAY, Channel, StreamState
from wheels.channel.plan import add, retire

EMPTY = Channel(
    0, "Acme", grace=2 * DAY, settle=600, url="", streams={"nightly": StreamState(), "stable": StreamState()}
)


def local(path: Path) -> list[LocalFile]:
    """Read a build."""
    return read_local([path])


@pytest.fixture(name="channel")
def _channel(tmp_path: Path) -> Channel:
    channel = EMPTY
    for night in range(3):
        files = local(build(tmp_path, f"1.{night}"))
        channel = add(channel, "nightly", files, NOW + night * DAY).after
    return channel


def listed(channel: Channel, stream: str = "nightly") -> list[str]:
    """Return names and versions."""
    return [f"{one.project} {one.version}" for one in channel.listing(stream)]


def test_a_build_in_two_streams_lies_there_once(channel: Channel, tmp_path: Path) -> None:
    change = add(channel, "stable", local(build(tmp_path, "1.1")), NOW)
    assert change.after.files == channel.files
    assert listed(change.after, "stable") == ["acme 1.1", "acme-core 1.1", "acme-libraries 1.1"]


def test_adding_twice_changes_nothing(channel: Channel, tmp_path: Path) -> None:
    assert add(channel, "nightly", local(build(tmp_path, "1.2")), NOW).after == channel


def test_other_bytes_are_refused_for_ever(channel: Channel, tmp_path: Path) -> None:
    other = local(build(tmp_path / "other", "1.0", core=b"other = 1"))
    with pytest.raises(FoundError, match=r"other bytes.*\n  acme_core-1.0.*\n    in the channel: sha256"):
        add(channel, "stable", other, NOW)
    for days in (3, 4, 5, 8):
        channel = retire(channel, "nightly", DAY, 1, NOW + days * DAY).after
    assert listed(channel) == ["acme 1.2", "acme-core 1.2", "acme-libraries 1.2"]
    assert len(channel.files) == 3
    with pytest.raises(FoundError, match=r"\n    retired: sha256"):
        add(channel, "nightly", other, NOW, older=True)
    same = local(build(tmp_path, "1.0"))
    assert "acme 1.0" in listed(add(channel, "nightly", same, NOW, older=True).after)


def test_what_requires_goes_before_what_it_requires(channel: Channel) -> None:
    first = retire(channel, "nightly", DAY, 2, NOW + 3 * DAY)
    assert first.names == ("acme-1.0-py3-none-any.whl",)
    second = retire(first.after, "nightly", DAY, 2, NOW + 3 * DAY + 600)
    assert second.names == ("acme_libraries-1.0-py3-none-manylinux_2_28_x86_64.whl",)
    third = retire(second.after, "nightly", DAY, 2, NOW + 3 * DAY + 1200)
    assert third.names == ("acme_core-1.0-py3-none-manylinux_2_28_x86_64.whl",)
    assert third.deletes == ()
    last = retire(third.after, "nightly", DAY, 2, NOW + 6 * DAY)
    assert len(last.deletes) == 6
    assert listed(last.after)[::3] == ["acme 1.1", "acme-core 1.2"]


def test_one_call_unlists_one_level_however_late_it_comes(channel: Channel) -> None:
    """Who has read a second ago that acme is there looks for its libraries now."""
    for days, name in ((3, "acme-1.0"), (4, "acme_libraries-1.0"), (5, "acme_core-1.0")):
        change = retire(channel, "nightly", DAY, 2, NOW + days * DAY)
        assert [one.partition("-py3")[0] for one in change.names] == [name]
        channel = change.after


def test_age_and_number_both_count(channel: Channel) -> None:
    for age, keep in ((30, 1), (1, 3), (1, 5)):
        (line,) = retire(channel, "nightly", age * DAY, keep, NOW + 3 * DAY).lines
        assert line == f"nightly: nothing to retire: builds are younger, or among the last {keep}"


def test_what_a_kept_wheel_requires_stays_in_any_stream(channel: Channel, tmp_path: Path) -> None:
    torch = write(tmp_path / "torch", [wheel("torch", "2.0", "Requires-Dist: acme-libraries==1.0")])
    channel = add(channel, "stable", local(torch), NOW).after
    for days in (3, 4, 5, 9):
        change = retire(channel, "nightly", DAY, 1, NOW + days * DAY)
        channel = change.after
        if days == 3:
            user = "torch-2.0-py3-none-manylinux_2_28_x86_64.whl requires it, in stable"
            assert f"keep   acme_libraries-1.0-py3-none-manylinux_2_28_x86_64.whl: {user}" in change.lines
            user = "acme_libraries-1.0-py3-none-manylinux_2_28_x86_64.whl requires it, in nightly"
            assert f"keep   acme_core-1.0-py3-none-manylinux_2_28_x86_64.whl: {user}" in change.lines
    assert [one for one in listed(channel) if one.endswith("1.0")] == ["acme-core 1.0", "acme-libraries 1.0"]
    assert [one for one in listed(channel) if one.endswith("1.1")] == []


def test_what_was_leaving_stays_if_somebody_requires_it_now(channel: Channel, tmp_path: Path) -> None:
    channel = retire(channel, "nightly", DAY, 1, NOW + 3 * DAY).after
    torch = write(tmp_path / "torch", [wheel("torch", "2.0", "Requires-Dist: acme-core==1.0")])
    channel = add(channel, "nightly", local(torch), NOW + 3 * DAY + 60).after
    for days in (4, 5):
        channel = retire(channel, "nightly", 9 * DAY, 1, NOW + days * DAY).after
    assert [one for one in listed(channel) if one.startswith("acme-core")] == ["acme-core 1.0", "acme-core 1.2"]


def test_leftovers_of_killed_commands_go_when_they_are_old(channel: Channel) -> None:
    path = f"files/{'0' * 64}/a-1.0-py3-none-any.whl"
    ages = {path: 3.0 * DAY, "files/README": 9.0 * DAY, f"files/{'1' * 64}/b.whl": 5.0}
    change = retire(channel, "nightly", DAY, 3, NOW, ages)
    assert change.deletes == (path,)
