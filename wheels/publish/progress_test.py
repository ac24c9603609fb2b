"""What people see."""

import io
import time

import pytest

from wheels.publish.progress import Progress


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the present moment, which the test sets."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def send(progress: Progress, clock: list[float]) -> None:
    """Send a file in two seconds."""
    progress.begin("a.whl", 30_000_000)
    for _ in range(2):
        clock[0] += 1
        progress.sent(15_000_000)
    progress.end("sent")


def test_a_line_per_file(clock: list[float]) -> None:
    stream = io.StringIO()
    progress = Progress(12, stream)
    send(progress, clock)
    progress.begin("index.html", 80)
    progress.end("page")
    lines = ["sent       1/12 a.whl: 30.0 MB in 2.0 s (15.0 MB/s)", "page       2/12 index.html: 80 bytes", ""]
    assert stream.getvalue().split("\n") == lines
    assert progress.total == 30_000_080


def test_a_terminal_shows_how_far_it_is(clock: list[float]) -> None:
    stream = Terminal()
    send(Progress(1, stream), clock)
    parts = stream.getvalue().split("\r\x1b[K")
    assert "sending   1/1 a.whl: 50 % of 30.0 MB, 15.0 MB/s" in parts
    assert parts[-1] == "sent      1/1 a.whl: 30.0 MB in 2.0 s (15.0 MB/s)\n"


def test_a_client_that_sends_twice_shows_no_more_than_all(clock: list[float]) -> None:
    stream = Terminal()
    progress = Progress(1, stream)
    progress.begin("a.whl", 10)
    clock[0] += 1
    progress.sent(25)
    assert stream.getvalue().endswith("100 % of 10 bytes, 10 bytes/s")
