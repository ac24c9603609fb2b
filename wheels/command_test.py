"""The command `rocm-wheels`: it finds its sub-commands, and starts without importing them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from wheels.command import COMMANDS, main

ROOT = Path(__file__).resolve().parents[1]


#: Sub-commands of commands.
NESTED = [
    *(f"channel {name}" for name in ("init", "add", "retire", "promote", "withdraw", "check", "show")),
    "code list",
]


@pytest.mark.parametrize("name", [*COMMANDS, *NESTED])
def test_each_command_explains_itself(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fits a terminal, and has an example."""
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as end:
        main([*name.split(), "--help"])
    assert end.value.code == 0
    out = capsys.readouterr().out
    assert out.startswith(f"usage: rocm-wheels {name} ")
    assert out.count(f"  rocm-wheels {name} ") >= 1
    assert [line for line in out.splitlines() if len(line) > 80] == []


def test_help_lists_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"\n  {name} " in out for name in COMMANDS)
    assert [line for line in out.splitlines() if len(line) > 80] == []


def test_a_command_that_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["splt"]) == 2
    assert (
        "splt: no such command; expected verify, split, require-sdk, channel, rebuild, code" in capsys.readouterr().err
    )


def test_a_reader_that_has_enough_is_no_error(capfd: pytest.CaptureFixture[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}
    program = "from wheels.command import main; import sys; sys.exit(main(['code', 'list', 'wheels/command.py']))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=os.environ | path, stdout=writing, check=False)
    os.close(writing)
    assert (done.returncode, capfd.readouterr().err) == (0, "")


def test_help_imports_no_command() -> None:
    """Whoever types `--help` waits for nothing else."""
    program = (
        "import sys; from wheels.command import main; main(['--help']);"
        "print([name for name in sys.modules if name.startswith(('lib.', 'wheels.'))])"
    )
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}  # Since version 2, rules_python's programs do not hand it down.
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "['wheels.command']"
