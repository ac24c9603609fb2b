"""Publishing that is interrupted, at any moment: what is visible then, and what the next run makes of it."""

import io
import os
import signal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from develop.testing.publish_sample import CORE, FILES, SDIST, page, promises_kept, tree, with_pages, write
from wheels.publish.directory import CHUNK, DirectoryPlace
from wheels.publish.files import LocalFile, read_files
from wheels.publish.place import ConflictError
from wheels.publish.progress import Progress
from wheels.publish.run import Options, publish

#: More than one chunk, so that a kill can come in the middle of a file.
BIG = bytes(CHUNK + 1)
BUILD = with_pages({**FILES, CORE: BIG})


@pytest.fixture(autouse=True)
def without_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what only a power failure would show."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


class Dying(Progress):
    """Kills the process when it has sent something, or syncs to the disk, for the n-th time."""

    def __init__(self, moment: int, patched: pytest.MonkeyPatch) -> None:
        super().__init__(0, io.StringIO())
        self._left = moment
        patched.setattr(os, "fsync", lambda descriptor: self._die_at_last())

    def sent(self, count: int) -> None:
        """Die in the middle of a file."""
        self._die_at_last()

    def _die_at_last(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def killed_at(moment: int, files: list[LocalFile], place: Path) -> bool:
    """Publish in a process that is killed at a moment; return whether that ever came."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with pytest.MonkeyPatch.context() as patched:
                publish(files, DirectoryPlace(place), Options(), Dying(moment, patched))
            status = 0
        finally:
            os._exit(status)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "publishing failed"
    return os.WIFSIGNALED(status)


def test_killed_at_every_moment(tmp_path: Path) -> None:
    files = read_files(write(tmp_path / "dist", BUILD))
    moments = 0
    while True:
        place = tmp_path / f"place{moments}"
        was_killed = killed_at(moments + 1, files, place)
        visible = tree(place)
        assert visible.items() <= BUILD.items(), "a file was visible before it was whole"
        assert promises_kept(visible), "a page was visible before what it names"
        publish(files, DirectoryPlace(place), Options())
        assert tree(place) == BUILD
        assert not list(place.rglob(".*")), "what the killed run left lies about"
        if not was_killed:
            break
        moments += 1
    assert moments > 2 * len(BUILD)


def test_killed_while_pages_change(tmp_path: Path) -> None:
    """A newer build with further distributions: the older pages serve until the newer ones are there."""
    older, newer = with_pages({SDIST: b"selector"}), BUILD | with_pages({**FILES, SDIST: b"selector", CORE: BIG})
    older_files = read_files(write(tmp_path / "older", older))
    newer_files = read_files(write(tmp_path / "newer", newer))
    moment, was_killed = 1, True
    while was_killed:
        place = tmp_path / f"place{moment}"
        publish(older_files, DirectoryPlace(place), Options())
        was_killed = killed_at(moment, newer_files, place)
        visible = tree(place)
        assert promises_kept(visible)
        assert all(content in (older.get(path), newer[path]) for path, content in visible.items())
        publish(newer_files, DirectoryPlace(place), Options())
        assert tree(place) == newer
        moment += 1


class InterruptionError(Exception):
    """What a test interrupts with."""


NAMES = st.sampled_from([SDIST, CORE, f"{CORE}.metadata", "rocm_sdk_devel-7.0-py3-none-any.whl"])
BUILDS = st.dictionaries(NAMES, st.sampled_from([b"", b"one", b"two"]), min_size=1).filter(
    lambda files: set(files) != {f"{CORE}.metadata"}
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(BUILDS, st.integers(0, 12)), max_size=6))
def test_whatever_happens_published_bytes_stay(
    tmp_path_factory: pytest.TempPathFactory, history: list[tuple[dict[str, bytes], int]]
) -> None:
    """Publish any builds one after the other, each interrupted somewhere, and look after each."""
    base = tmp_path_factory.mktemp("history")
    published: dict[str, bytes] = {}
    for number, (build, moment) in enumerate(history):
        files = read_files(write(base / f"dist{number}", {**build, "index.html": page(build)}))
        left = moment

        def count_down(descriptor: int) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise InterruptionError

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(os, "fsync", count_down)
            try:
                publish(files, DirectoryPlace(base / "place"), Options(leave_unlisted=True))
            except (InterruptionError, ConflictError):
                pass
            else:
                assert {**build, "index.html": page(build)}.items() <= tree(base / "place").items()
        now = tree(base / "place")
        assert promises_kept(now)
        assert published.items() <= now.items(), "a published file has changed or gone"
        published = {path: content for path, content in now.items() if path != "index.html"}
