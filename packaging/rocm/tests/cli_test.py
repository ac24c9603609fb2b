"""`rocm-sdk` where its output goes nowhere, it has to wait, or is interrupted: one line, and no traceback."""

from __future__ import annotations

import fcntl
import io
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from environments import Environment
from fake_sdk import FakeSdk
from rocm_sdk import cli, commands, output

VERSION = "7.10.0.dev0"


def shell(environment: Environment, command: str, **variables: str) -> tuple[int, str, str]:
    """Run a line of shell, in which `rocm-sdk` is the environment's; return its status, and what it printed."""
    path = f"{environment.root}/bin:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command], env={**os.environ, "PATH": path, **variables}, capture_output=True, check=False
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_the_version_is_an_option_too(shared_environment: Environment) -> None:
    assert shell(shared_environment, "rocm-sdk --version") == (0, f"rocm-sdk {VERSION}\n", "")


def test_without_a_command_it_explains_itself(shared_environment: Environment) -> None:
    assert shell(shared_environment, "rocm-sdk") == shell(shared_environment, "rocm-sdk --help")


@pytest.mark.parametrize("command", ["", "version", "targets", "path", "env", "init", "init-py", "test", "doctor"])
def test_the_help_fits_a_terminal(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        cli.main([*command.split(), "--help"])
    out = capsys.readouterr().out
    assert "examples:\n  " in out
    assert [line for line in out.splitlines() if len(line) > 80] == []


def test_no_check_has_this_name(shared_environment: Environment) -> None:
    said = "rocm-sdk: error: no check has 'nothing' in its name. `rocm-sdk test` names them all.\n"
    assert shell(shared_environment, "rocm-sdk test -k nothing") == (1, "0 passed, 0 failed, 0 skipped\n", said)
    status, printed, error = shell(shared_environment, "rocm-sdk test -k nothing --json")
    assert (status, error) == (1, said)
    assert '"results": []' in printed


@pytest.mark.parametrize("command", ["version", "--version", "--help", "path --root", "init-py --preload amdhip64"])
@pytest.mark.parametrize(
    ("target", "reason"), [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")]
)
def test_output_that_cannot_be_written(shared_environment: Environment, command: str, target: str, reason: str) -> None:
    assert shell(shared_environment, f"rocm-sdk {command} {target}") == (
        1,
        "",
        f"rocm-sdk: error: standard output cannot be written: {reason}. Send it to another file, or free space.\n",
    )


def test_what_prints_nothing_needs_no_output(shared_environment: Environment) -> None:
    assert shell(shared_environment, "rocm-sdk init --quiet >&- 2>&-") == (0, "", "")


@pytest.mark.parametrize("command", ["version", "--help", "init-py --preload amdhip64"])
def test_nobody_reads_the_output(shared_environment: Environment, command: str) -> None:
    """`sleep` keeps the reader from being there when the command writes."""
    line = f"(sleep 0.5; exec rocm-sdk {command}) | true; exit ${{PIPESTATUS[0]}}"
    assert shell(shared_environment, line) == (141, "", "")


def test_another_process_has_the_lock_and_the_user_gives_up(shared_environment: Environment) -> None:
    lock = shared_environment.site / "rocm_sdk_devel/.devel_links/devel.json"
    command = [str(shared_environment.root / "bin/rocm-sdk"), "init"]
    with lock.open("r+b") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        # What runs in the background of a shell ignores this signal, and so would its children.
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(2)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60) == ("", "rocm-sdk: interrupted\n")
        assert process.returncode == 128 + signal.SIGINT


def test_a_file_that_cannot_be_read_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(_: object) -> int:
        raise PermissionError(13, "Permission denied", "/site/RECORD")

    monkeypatch.setattr(commands, "run_targets", refuse)
    assert cli.main(["targets"]) == 1
    assert capsys.readouterr().err == "rocm-sdk: error: [Errno 13] Permission denied: '/site/RECORD'\n"


def test_paths_outside_of_the_code_page_are_printed(split_sdk: FakeSdk, tmp_path: Path) -> None:
    """On Windows, pipes have the code page of the country: `path` ended with UnicodeEncodeError."""
    environment = Environment.create(tmp_path / "Łódź", installer="pip")
    environment.install(split_sdk.index, "rocm[devel]")
    root = f"{environment.site}/_rocm_sdk_devel"
    assert shell(environment, "rocm-sdk path --root", PYTHONIOENCODING="cp1252") == (0, f"{root}\n", "")


@pytest.mark.parametrize(
    ("text", "data"),
    [("ü", b"\xfc\n"), ("ł", "ł\n".encode()), (os.fsdecode(b"\xff"), b"\xff\n"), ("ł\udcff", b"\xc5\x82\xff\n")],
)
def test_the_encoding_is_kept_if_it_can_be(monkeypatch: pytest.MonkeyPatch, text: str, data: bytes) -> None:
    buffer = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(buffer, encoding="cp1252"))
    output.say(text)
    sys.stdout.flush()
    assert buffer.getvalue().replace(b"\r\n", b"\n") == data


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_commands_say_how_what_is_half_removed_comes_back(installer: str, split_sdk: FakeSdk, tmp_path: Path) -> None:
    environment = Environment.create(tmp_path / "venv", installer)
    environment.install(split_sdk.index, "rocm[devel]")
    for name in ("rocm_sdk_devel", "rocm_sdk_core", "_rocm_sdk_core"):
        shutil.rmtree(environment.site / name)
    again = "uv pip install --reinstall" if installer == "uv" else "pip install --force-reinstall"

    def remedy(name: str) -> str:
        metadata = environment.site / f"rocm_sdk_{name}-{VERSION}.dist-info"
        command = f'{again} --no-deps "rocm-sdk-{name}=={VERSION}"'
        return f"It is half removed: {metadata} is still there. Reinstall it: {command}"

    said = environment.rocm_sdk("path", "--root", check=False)
    assert said == f"rocm-sdk: error: rocm-sdk-devel is not installed. {remedy('devel')}\n"
    said = environment.rocm_sdk("test", "-k", "packages", check=False)
    assert f"failed  packages: rocm-sdk-core is not installed. {remedy('core')}\n" in said
    said = environment.run_code("import rocm_sdk; rocm_sdk.find_libraries('amdhip64')", check=False)
    assert said.endswith(f"amdhip64: not installed: rocm-sdk-core=={VERSION}. {remedy('core')}\n")
