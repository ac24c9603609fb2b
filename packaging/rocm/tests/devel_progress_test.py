"""The progress bar: on a terminal, while something takes long, and nowhere else."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import TextIO

import pytest
from rocm_sdk import progress
from rocm_sdk.devel import devel_root
from rocm_sdk.progress import format_bar, is_terminal, progress_bar

WIPE = "\r\x1b[K"


class Terminal(io.StringIO):
    """Keeps what is written to it."""

    def isatty(self) -> bool:
        """Say that it is one."""
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0)
    monkeypatch.setattr(progress, "INTERVAL_SECONDS", 0)
    return Terminal()


def test_the_bar_grows_and_is_wiped_off(terminal: Terminal) -> None:
    with progress_bar("Unpacking", 200, stream=terminal) as report:
        report(0)
        report(100)
        report(300)
    lines = terminal.getvalue().split(WIPE)
    assert lines == [
        "",
        f"Unpacking [{'.' * 30}]   0 %",
        f"Unpacking [{'#' * 15}{'.' * 15}]  50 %",
        f"Unpacking [{'#' * 30}] 100 %",
        "",
    ]


def test_an_error_wipes_it_off_as_well(terminal: Terminal) -> None:
    def work() -> None:
        with progress_bar("Unpacking", 2, stream=terminal) as report:
            report(1)
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        work()
    assert terminal.getvalue().endswith(WIPE)


def test_short_work_shows_nothing(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY_SECONDS", 3600)
    with progress_bar("Unpacking", 2, stream=terminal) as report:
        report(1)
    assert terminal.getvalue() == ""


def test_nothing_when_quiet_or_on_a_dumb_terminal_or_in_a_file(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = io.StringIO()
    for stream, quiet in ((terminal, True), (file, False)):
        with progress_bar("Unpacking", 2, quiet=quiet, stream=stream) as report:
            report(1)
    monkeypatch.setenv("TERM", "dumb")
    with progress_bar("Unpacking", 2, stream=terminal) as report:
        report(1)
    assert terminal.getvalue() + file.getvalue() == ""


def test_a_stream_that_is_closed_or_missing_is_no_terminal() -> None:
    closed = io.StringIO()
    closed.close()
    assert not is_terminal(closed)
    assert not is_terminal(None)


def test_a_terminal_that_goes_away_does_not_end_the_work(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang_up(_: str) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(terminal, "write", hang_up)
    with progress_bar("Unpacking", 2, stream=terminal) as report:
        report(1)


@pytest.mark.parametrize("columns", [0, 1, 10, 20, 40, 80])
def test_the_line_fits_the_terminal(columns: int) -> None:
    assert len(format_bar("Unpacking rocm-sdk-devel", 0.5, columns)) <= max(columns - 1, 0)


def read_terminal(descriptor: int) -> str:
    """Return all that was written to the other end, which is closed."""
    found = b""
    while True:
        try:
            piece = os.read(descriptor, 4096)
        except OSError:  # Linux says EIO at the end of a terminal.
            return found.decode()
        found += piece
        if not piece:
            return found.decode()


@pytest.mark.parametrize("quiet", [False, True])
def test_expansion_shows_it_on_stderr_of_a_terminal(site: Path, monkeypatch: pytest.MonkeyPatch, quiet: bool) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0)
    master, slave = pty.openpty()
    with open(slave, "w", encoding="utf-8") as stream:
        stderr: TextIO = stream
        monkeypatch.setattr(sys, "stderr", stderr)
        devel_root(quiet=quiet)
    monkeypatch.undo()
    text = read_terminal(master)
    os.close(master)
    assert ("Unpacking rocm-sdk-devel 7.10.0.dev0 [" in text) is not quiet
    assert text.endswith("" if quiet else WIPE)


def test_importing_it_costs_no_other_module() -> None:
    code = "import sys; old = set(sys.modules); import rocm_sdk.progress; print(*sorted(set(sys.modules) - old))"
    source = Path(progress.__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    assert not {"shutil", "tarfile", "hashlib", "lzma"} & set(done.stdout.split())
