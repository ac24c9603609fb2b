"""A signed channel: each thing that others may do to it has its message, in a directory and in a bucket."""

import http.server
import json
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from develop.testing.channel_sample import NOW, MemoryPlace, build
from develop.testing.signing import OwnSigner, make_key
from lib.common.command import FOUND, OK, FoundError
from lib.common.documents import time_text
from wheels.channel.change import change
from wheels.channel.check import check
from wheels.channel.directory import DirectoryPlace
from wheels.channel.kills_test import KilledError, KilledPlace, killing_after
from wheels.channel.local_files import read_local
from wheels.channel.model import DAY, Channel, StreamState
from wheels.channel.place import ANYTHING, Place
from wheels.channel.plan import add
from wheels.channel.signing import sign
from wheels.channel.tool import main
from wheels.channel.trust import Trust
from wheels.channel.web import WebPlace

STREAM, PAGE, TIMESTAMP = "nightly", "nightly/simple/acme/index.json", "metadata/timestamp.json"


class Owner:
    """Has the key of a channel."""

    def __init__(self, place: Place, folder: Path, name: str = "key") -> None:
        """Make a key."""
        self.place, self.folder, self.signer = place, folder, OwnSigner(folder, name)
        self.old: dict[str, bytes] = {}
        self.new: dict[str, bytes] = {}
        self.trust = Trust(self.signer.public_key, folder / "seen")

    def add(self, version: str) -> None:
        """Add a build."""
        files = read_local([build(self.folder / "builds", version)])
        change(self.place, 0, lambda channel: add(channel, STREAM, files, NOW))

    def sign(self, lifetime: int = DAY) -> dict[str, bytes]:
        """Sign, and return all that is there then."""
        sign(self.place, 0, self.signer, lifetime)
        return self.stored()

    def stored(self) -> dict[str, bytes]:
        """Return what is there."""
        paths = [path for path in self.place.list() if not path.startswith((".", STREAM))]
        paths += [f"{STREAM}/{path}" for path in self.place.pages(STREAM)]
        return {path: one.content for path in paths if (one := self.place.read(path))}

    def said(self) -> list[str]:
        """Return what `check` says to somebody who has the key."""
        return [str(one) for one in check(self.place, self.trust)[1]]


def begin(place: Place) -> None:
    """Make a channel with one stream."""
    place.write("channel.json", Channel(0, "Acme", DAY, 600, "", {STREAM: StreamState()}).to_json())


@pytest.fixture(name="owner", params=["directory", "bucket"])
def _owner(request: pytest.FixtureRequest, tmp_path: Path) -> Owner:
    """Return the owner of a channel with two states, both signed, of which the newer one was seen."""
    owner = Owner(DirectoryPlace(tmp_path / "channel") if request.param == "directory" else MemoryPlace(), tmp_path)
    begin(owner.place)
    owner.add("1.0")
    owner.old = owner.sign()
    owner.add("1.1")
    owner.new = owner.sign()
    assert owner.said() == []
    return owner


def numbered(stored: dict[str, bytes], role: str) -> str:
    """Return the path of the newest metadata of a role."""
    return max(path for path in stored if path.endswith(f".{role}.json"))


def put(owner: Owner, path: str, content: bytes) -> None:
    """Write a file as somebody who may write to the place."""
    owner.place.write(path, content, ANYTHING)


def flipped(content: bytes) -> bytes:
    """Return a text with another digit."""
    at = next(i for i in range(len(content) - 1, 0, -1) if content[i : i + 1].isdigit())
    return content[:at] + (b"1" if content[at : at + 1] != b"1" else b"2") + content[at + 1 :]


def test_a_flipped_byte(owner: Owner) -> None:
    wheel = next(path for path in owner.new if path.endswith(".whl"))
    for path in (PAGE, wheel, f"{wheel}.metadata", "channel.json"):
        put(owner, path, flipped(owner.new[path]))
        (said,) = [one for one in owner.said() if one.startswith("forged")]
        assert said.startswith(f"forged: {path}: SHA-256 ")
        assert "; signed is " in said
        put(owner, path, owner.new[path])
    for path in ("metadata/1.root.json", TIMESTAMP, numbered(owner.new, "snapshot"), numbered(owner.new, "targets")):
        put(owner, path, flipped(owner.new[path]))
        (said,) = owner.said()
        assert said.startswith((f"forged: {path}: has other bytes than were signed", f"other-key: {path}: is signed"))
        put(owner, path, owner.new[path])
    assert owner.said() == []


def test_what_is_missing(owner: Owner) -> None:
    wheel = next(path for path in owner.new if path.endswith(".whl"))
    targets = numbered(owner.new, "targets")
    for path, said in (
        (wheel, f"forged: {wheel}: is missing, and was signed"),
        (TIMESTAMP, f"unsigned: {TIMESTAMP}: is missing, so nothing is signed"),
        ("metadata/1.root.json", "unsigned: metadata/1.root.json: is missing, so nothing is signed"),
        (targets, f"mixed: {targets}: is missing, and {TIMESTAMP} is of its state"),
    ):
        owner.place.delete([path])
        assert owner.said() == [said]
        put(owner, path, owner.new[path])


def test_an_older_state_that_was_put_back(owner: Owner) -> None:
    for path, content in owner.old.items():
        put(owner, path, content)
    for path in (path for path in owner.stored() if path.startswith(STREAM) and path not in owner.old):
        owner.place.delete([path])
    times = [time_text(int(numbered(state, "targets").split("/")[1].split(".")[0])) for state in (owner.old, owner.new)]
    assert owner.said() == [
        f"rolled-back: {TIMESTAMP}: was signed at {times[0]}; a state of {times[1]} was seen before"
    ]
    stranger = Trust(owner.trust.key, owner.folder / "nothing-seen")
    assert check(owner.place, stranger)[1] == []


def test_only_the_state_was_put_back(owner: Owner) -> None:
    put(owner, "channel.json", owner.old["channel.json"])
    assert "rolled-back: channel.json: has serial 1; signed is 2" in owner.said()
    with pytest.raises(FoundError, match=r"has serial 1, and 2 was signed: an older state was put back. If that is"):
        owner.sign()


def test_a_page_of_an_older_state(owner: Owner) -> None:
    put(owner, PAGE, owner.old[PAGE])
    (said,) = [one for one in owner.said() if not one.startswith("wrong-page")]
    assert said.startswith(f"forged: {PAGE}: SHA-256 ")


@pytest.mark.parametrize("role", ["snapshot", "targets"])
def test_metadata_of_two_states(owner: Owner, role: str) -> None:
    path = numbered(owner.new, role)
    put(owner, path, owner.old[numbered(owner.old, role)])
    (said,) = owner.said()
    assert said.startswith(f"mixed: {path}: was signed at ")


def test_nothing_newer_comes(owner: Owner) -> None:
    owner.sign(-1)
    (said,) = owner.said()
    assert said.startswith(f"expired: {TIMESTAMP}: expired at 20")


def test_another_key(owner: Owner) -> None:
    other = Owner(owner.place, owner.folder, "other")
    ours, theirs = owner.trust.key.keyid, other.trust.key.keyid
    assert other.said() == [f"other-key: metadata/1.root.json: is signed by {ours}; expected {theirs}"]
    with pytest.raises(FoundError, match=f"metadata/1.root.json: is not signed by {theirs}; expected that key"):
        other.sign()
    owner.place.delete([path for path in owner.new if path.startswith("metadata/")])
    stolen = other.sign()
    assert owner.said() == [f"other-key: metadata/1.root.json: is signed by {theirs}; expected {ours}"]
    put(owner, "metadata/1.root.json", owner.new["metadata/1.root.json"])
    assert owner.said() == [f"other-key: {TIMESTAMP}: is signed by {theirs}; expected {ours}"]
    put(owner, TIMESTAMP, owner.new[TIMESTAMP])
    put(owner, path := numbered(owner.new, "snapshot"), stolen[numbered(stolen, "snapshot")])
    assert owner.said() == [f"other-key: {path}: is signed by {theirs}; expected {ours}"]


def test_a_change_that_nobody_has_signed_yet(owner: Owner) -> None:
    owner.add("1.2")
    said = "unsigned: channel.json: was changed since it was signed: serial 3, signed 2"
    assert owner.said() == [said]
    for _ in range(3):
        owner.sign()
        assert owner.said() == []
    names = [path for path in owner.stored() if path.startswith("metadata/")]
    assert len(names) == 2 + 2 * 2, "older metadata stay for ever"


def test_what_is_wrong_is_not_signed(owner: Owner) -> None:
    for path in (PAGE, next(path for path in owner.new if path.endswith(".whl"))):
        put(owner, path, owner.new[path] + b"\n")
        with pytest.raises(FoundError, match=rf"nothing was signed, as channel.json says otherwise of {path}\."):
            owner.sign()
        put(owner, path, owner.new[path])
    assert owner.stored() == owner.new


@pytest.mark.parametrize("steps", range(8))
def test_killed_at_any_step(tmp_path: Path, steps: int) -> None:
    for kind in ("bucket", "directory"):
        folder = tmp_path / kind
        folder.mkdir()
        place = MemoryPlace() if kind == "bucket" else DirectoryPlace(folder / "channel")
        owner = Owner(place, folder)
        begin(place)
        owner.add("1.0")
        for _ in range(2):
            owner.sign()
        killing: Callable[[], None] = killing_after(steps)
        if isinstance(place, MemoryPlace):
            place.step = killing
            owner.place = place
        else:
            owner.place = KilledPlace(folder / "channel", killing)
        try:
            owner.sign()
        except KilledError:
            if isinstance(place, MemoryPlace):
                place.step = lambda: None
            owner.place = place
            assert owner.said() == []
            place.delete(["lock.json"])
            owner.sign()
        owner.place = place
        assert owner.said() == []
        assert len([path for path in owner.stored() if path.startswith("metadata/")]) <= 6


def test_over_the_web_and_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    channel, (key, command) = tmp_path / "channel", make_key(tmp_path)
    trust = [f"--trust={key}", f"--seen={tmp_path / 'seen'}"]
    assert main(["init", f"--channel={channel}", "--stream=nightly"]) == OK
    assert main(["add", f"--channel={channel}", "--stream=nightly", str(build(tmp_path, "1.0"))]) == OK
    assert main(["check", f"--channel={channel}", *trust]) == FOUND
    assert "Call `rocm-wheels channel sign`" in capsys.readouterr().out
    signed = ["sign", f"--channel={channel}", f"--key={key}", f"--sign-command={command}", "--expires=1h", "--json"]
    assert main(signed) == OK
    assert json.loads(capsys.readouterr().out)["serial"] == 2
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=str(channel))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        assert main(["check", f"--channel={url}", *trust]) == OK
        assert WebPlace(url).read("nothing") is None
        assert main(["check", f"--channel={url}"]) != OK
        server.shutdown()
    assert "is only served. Name the directory or bucket, or use check --trust" in capsys.readouterr().err
