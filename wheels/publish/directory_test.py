"""Publishing into a directory: what is there then, and what two publishers do to each other."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import BinaryIO

import pytest

from develop.testing.publish_sample import CORE, FILES, SDIST, tree, with_pages, write
from lib.common.program import ToolError
from wheels.publish.directory import CHUNK, DirectoryPlace
from wheels.publish.files import LocalFile, read_files
from wheels.publish.place import ConflictError, TakenError
from wheels.publish.run import Options, publish

#: More than one chunk, so that a kill can come in the middle of a file.
BIG = bytes(CHUNK + 1)
BUILD = with_pages({**FILES, CORE: BIG})


@pytest.fixture(autouse=True)
def without_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what only a power failure would show."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def ignore(count: int) -> None:
    """Do without progress."""


def test_a_directory_becomes_what_was_built(tmp_path: Path) -> None:
    files = read_files(write(tmp_path / "dist", BUILD))
    place = tmp_path / "new" / "place"
    assert "4 files and 3 pages" in publish(files, DirectoryPlace(place), Options())
    assert tree(place) == BUILD
    assert not list(place.rglob(".*"))


def test_anybody_can_read_what_is_published(tmp_path: Path) -> None:
    files = read_files(write(tmp_path / "dist", BUILD))
    for file in files:
        file.source.chmod(0o500)
    before = os.umask(0o077)
    try:
        publish(files, DirectoryPlace(tmp_path / "place"), Options())
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "place").rglob("*") if path.is_file()} == {0o644}


def test_published_files_are_none_of_the_build(tmp_path: Path) -> None:
    files = read_files(write(tmp_path / "dist", BUILD))
    publish(files, DirectoryPlace(tmp_path / "place"), Options())
    assert (tmp_path / "place" / CORE).stat().st_nlink == 1
    assert not (tmp_path / "place" / CORE).samefile(tmp_path / "dist" / CORE)


def test_a_file_that_changes_while_it_is_sent(tmp_path: Path) -> None:
    files = read_files(write(tmp_path / "dist", BUILD))
    (tmp_path / "dist" / CORE).write_bytes(b"another build")
    with pytest.raises(ToolError, match=f"{CORE}: changed while it was published"):
        publish(files, DirectoryPlace(tmp_path / "place"), Options())
    assert CORE not in tree(tmp_path / "place")
    assert not list((tmp_path / "place").rglob(".*"))


def local(tmp_path: Path, content: bytes) -> LocalFile:
    """Make the one file that a test sends."""
    files = read_files(write(tmp_path / content.decode(), with_pages({CORE: content})))
    return next(file for file in files if file.path == CORE)


def test_a_file_is_never_replaced(tmp_path: Path) -> None:
    target = DirectoryPlace(tmp_path / "place")
    target.put(local(tmp_path, b"first"), ignore)
    with pytest.raises(TakenError):
        target.put(local(tmp_path, b"second"), ignore)
    assert tree(tmp_path / "place") == {CORE: b"first"}


class Overtaken(DirectoryPlace):
    """A directory into which somebody else publishes after we have looked."""

    def __init__(self, root: Path, theirs: LocalFile) -> None:
        super().__init__(root)
        self._theirs = theirs

    def put(self, file: LocalFile, sent: Callable[[int], None]) -> None:
        """Come second."""
        if file.path == self._theirs.path:
            DirectoryPlace(self._root).put(self._theirs, ignore)
        super().put(file, sent)


def test_another_publisher_was_faster(tmp_path: Path) -> None:
    files = read_files(write(tmp_path / "dist", with_pages({CORE: b"first"})))
    publish(files, Overtaken(tmp_path / "place", local(tmp_path, b"first")), Options())
    assert tree(tmp_path / "place") == with_pages({CORE: b"first"})
    with pytest.raises(ConflictError, match=f"(?s){CORE}.*published:  sha256.*this build: sha256"):
        publish(files, Overtaken(tmp_path / "other", local(tmp_path, b"second")), Options())
    assert tree(tmp_path / "other") == {CORE: b"second"}


def test_two_publishers_of_one_file_at_a_time(tmp_path: Path) -> None:
    """Each writes to a file of its own, and what another one holds is no left-over."""
    partial = tmp_path / "place" / f".{CORE}.12345678.partial"
    partial.parent.mkdir()
    target = DirectoryPlace(tmp_path / "place")
    with partial.open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        target.tidy()
        target.put(local(tmp_path, b"first"), ignore)
        assert partial.exists()
    target.tidy()
    assert not partial.exists()
    assert tree(tmp_path / "place") == {CORE: b"first"}


def test_a_file_that_is_taken_for_a_left_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between open(2) and flock(2) another process removes it: once it was published before it was written."""
    target, lock, times = DirectoryPlace(tmp_path / "place"), fcntl.flock, 2

    def overtaken(file: BinaryIO, operation: int) -> None:
        nonlocal times
        if times:
            times -= 1
            with monkeypatch.context() as patched:
                patched.setattr(fcntl, "flock", lock)
                DirectoryPlace(tmp_path / "place").tidy()
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", overtaken)
    target.put(local(tmp_path, b"first"), ignore)
    assert times == 0
    assert tree(tmp_path / "place") == {CORE: b"first"}
    assert not list((tmp_path / "place").rglob(".*"))


def test_what_is_left_over_may_be_a_name_of_a_published_file(tmp_path: Path) -> None:
    """Killed between link(2) and unlink(2): nothing may be written through the second name, and it does not stay."""
    place = tmp_path / "place"
    files = read_files(write(tmp_path / "dist", BUILD))
    publish(files, DirectoryPlace(place), Options())
    second = place / f".{CORE}.12345678.partial"
    os.link(place / CORE, second)
    with pytest.raises(TakenError):
        DirectoryPlace(place).put(local(tmp_path, b"second"), ignore)
    assert "0 files and 0 pages" in publish(files, DirectoryPlace(place), Options())
    assert tree(place) == BUILD
    assert not second.exists()


def test_two_builds_at_a_time(tmp_path: Path) -> None:
    """Both find the place empty; the index can list one of them alone, and nobody is told that all is well."""
    place = tmp_path / "place"
    ours = read_files(write(tmp_path / "ours", with_pages({CORE: b"ours"})))
    theirs = read_files(write(tmp_path / "theirs", with_pages({SDIST: b"theirs"})))
    (their_file,) = [file for file in theirs if file.path == SDIST]

    class Beside(DirectoryPlace):
        def put(self, file: LocalFile, sent: Callable[[int], None]) -> None:
            DirectoryPlace(place).put(their_file, ignore)
            super().put(file, sent)

    with pytest.raises(ToolError, match=f"(?s)another build was published here at the same time.*{SDIST}"):
        publish(ours, Beside(place), Options())
    assert tree(place).items() >= {CORE: b"ours", SDIST: b"theirs"}.items()
    publish(ours, DirectoryPlace(place), Options(leave_unlisted=True))


def test_a_build_that_has_all_of_a_smaller_one(tmp_path: Path) -> None:
    """It comes while the smaller one is sent: its pages list all that is there, and stay."""
    place = tmp_path / "place"
    larger = read_files(write(tmp_path / "larger", BUILD))
    smaller = read_files(write(tmp_path / "smaller", with_pages({CORE: BUILD[CORE]})))

    class Beside(DirectoryPlace):
        def put(self, file: LocalFile, sent: Callable[[int], None]) -> None:
            publish(larger, DirectoryPlace(place), Options())
            super().put(file, sent)

    with pytest.raises(ToolError, match=f"(?s)another build was published here at the same time.*{SDIST}"):
        publish(smaller, Beside(place), Options())
    assert tree(place) == BUILD


def test_pages_are_put_by_one_at_a_time(tmp_path: Path) -> None:
    """While the pages of a smaller build are put, a larger build's pages wait, and so come last."""
    place = tmp_path / "place"
    larger = read_files(write(tmp_path / "larger", BUILD))
    smaller = read_files(write(tmp_path / "smaller", with_pages({CORE: BUILD[CORE]})))
    other = Thread(target=publish, args=(larger, DirectoryPlace(place), Options()))

    class Slow(DirectoryPlace):
        def put_page(self, file: LocalFile, sent: Callable[[int], None]) -> None:
            if not other.ident:
                other.start()
                other.join(0.3)
                assert other.is_alive()
            super().put_page(file, sent)

    with pytest.raises(ToolError, match=f"(?s)another build was published here at the same time.*{SDIST}"):
        publish(smaller, Slow(place), Options())
    other.join()
    assert tree(place) == BUILD


def test_a_place_that_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "place").write_text("")
    with pytest.raises(ToolError, match="is not a directory"):
        DirectoryPlace(tmp_path / "place")
