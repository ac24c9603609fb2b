"""Launchers for Windows, run by wine: what they start, how, and what they say when they cannot.

    .ci/run windows-launcher

It builds the launcher and a program for Windows, and calls this in a root that has wine, from the top of the workspace.
"""

import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from lib.pe import constants as c
from lib.pe.reader import read_pe
from tests.e2e.windows.machine import WORKSPACE, Wine

LAUNCHER = WORKSPACE / "bazel-bin/tools/actions/launcher/launcher"
SHOWS = WORKSPACE / "bazel-bin/tests/e2e/windows/shows"
#: Exit codes: of `shows`, and of a launcher that cannot start it.
SHOWN, CANNOT_EXECUTE = 7, 126


def finished(target: str) -> bytes:
    """Return the launcher with a target."""
    data = bytearray(LAUNCHER.read_bytes())
    with LAUNCHER.open("rb") as file:
        section = next(one for one in read_pe(file, "launcher").sections if one.name == ".target")
    begin = section.pointer_to_raw_data
    data[begin : begin + len(target.encode())] = target.encode()
    return bytes(data)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Lay a package out: a program in `tools`; launchers go into `bin`."""
    for name in ("bin", "tools"):
        (tmp_path / name).mkdir()
    shutil.copy(SHOWS, tmp_path / "tools/shows.exe")
    return tmp_path


def launcher(package: Path, target: str) -> Path:
    """Put a launcher into a package."""
    path = package / "bin/launcher.exe"
    path.write_bytes(finished(target))
    path.chmod(0o755)
    return path


def test_what_it_needs() -> None:
    with LAUNCHER.open("rb") as file:
        image = read_pe(file, "launcher")
    assert image.libraries == ("kernel32.dll",)
    assert (image.machine, image.subsystem) == (c.IMAGE_FILE_MACHINE_AMD64, c.IMAGE_SUBSYSTEM_WINDOWS_CUI)
    assert image.size < 16 << 10


@pytest.mark.parametrize(
    "arguments",
    [(), ("a b", 'c"d', "x\\", "", "ü 漢", "%PATH%", "&|<>^"), ("'", "\\\\server\\share\\", "a\tb")],
    ids=lambda arguments: f"{len(arguments)} arguments",
)
def test_arguments_and_exit_code_are_those_of_the_program(
    machine: Wine, package: Path, arguments: tuple[str, ...]
) -> None:
    directly = machine.run(package / "tools/shows.exe", *arguments)
    launched = machine.run(launcher(package, "..\\tools\\shows.exe"), *arguments)
    assert (directly.returncode, launched.returncode) == (SHOWN, SHOWN)
    # argv[0] is what the caller wrote: all else is the same.
    assert launched.stdout == directly.stdout.replace("tools\\shows.exe", "bin\\launcher.exe")


def test_a_path_that_is_not_ascii(machine: Wine, package: Path) -> None:
    (package / "tools/shows.exe").rename(package / "tools/ü 漢.exe")
    assert machine.run(launcher(package, "..\\tools\\ü 漢.exe"), "a").returncode == SHOWN


@pytest.mark.parametrize(
    ("target", "error"),
    [
        ("", r"launcher: was not finished: it has no target: error \d+\n"),
        ("..\\tools\\missing.exe", r"launcher: cannot execute .*\\tools\\missing\.exe: error 2\n"),
        ("..\\tools\\text.exe", r"launcher: cannot execute .*\\tools\\text\.exe: error 193\n"),
    ],
)
def test_what_cannot_be_started_is_named(machine: Wine, package: Path, target: str, error: str) -> None:
    (package / "tools/text.exe").write_text("no program")
    ended = machine.run(launcher(package, target))
    assert ended.returncode == CANNOT_EXECUTE
    assert re.fullmatch(error, ended.stderr), ended.stderr


def test_a_launcher_that_is_killed_takes_its_program_along(machine: Wine, package: Path) -> None:
    program = launcher(package, "..\\tools\\shows.exe")
    with subprocess.Popen(["wine", program, "wait"], env=machine.environment, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline(4)
        process.kill()
    deadline = time.monotonic() + 20
    while is_running("shows.exe"):
        assert time.monotonic() < deadline, "the program goes on"
        time.sleep(0.1)


def is_running(name: str) -> bool:
    """Whether a program for Windows runs."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if name.encode() in (process / "cmdline").read_bytes().split(b"\0")[0]:
                return True
        except OSError:
            continue
    return False
