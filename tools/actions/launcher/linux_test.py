"""Tests of the compiled launcher for Linux: what it starts, and what it says when it cannot."""

import os
import platform
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from lib.elf.constants import PT_INTERP
from lib.pack.stand_ins import finished_launcher

CANNOT_EXECUTE = 126
#: The compiled launcher, beside this test.
COMPILED = Path(__file__).with_name("launcher")

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the tests' programs are for x86_64")


def launcher(directory: Path, target: str) -> Path:
    """Write a launcher that starts `target`; return its path."""
    path = directory / "bin/launcher"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(finished_launcher(str(COMPILED), "bin/launcher", target) if target else COMPILED.read_bytes())
    path.chmod(0o755)
    return path


def said(path: Path, *arguments: str) -> str:
    """Run a launcher that cannot start anything; return what it says."""
    ended = subprocess.run([path, *arguments], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (CANNOT_EXECUTE, "")
    return ended.stderr


def test_arguments_environment_and_exit_code_are_those_of_the_program(tmp_path: Path) -> None:
    shell = shutil.which("sh")
    assert shell
    (tmp_path / "shell").symlink_to(shell)
    script = 'echo "$0" "$1" "$NAME"; exit 7'
    command = [str(launcher(tmp_path, "../shell")), "-c", script, "a b", "ï"]
    ended = subprocess.run(command, env={"NAME": "value"}, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (7, "a b ï value\n", "")


MISSING = "error 2 (No such file or directory, or its interpreter is missing)"
#: Target -> why it cannot be executed.
REASONS = {
    "../missing": MISSING,
    "../script": MISSING,
    "../text": "error 8 (Exec format error: not a program for this CPU)",
    "../plain": "error 13 (Permission denied)",
    "../text/below": "error 20 (Not a directory)",
    "../loop": "error 40 (Too many levels of symbolic links)",
    "../" + 300 * "n": "error 36 (File name too long)",
    "../busy": "error 26 (Text file busy)",
    "../damaged": "error 80",
}


@pytest.mark.parametrize(("target", "reason"), REASONS.items(), ids=[name[3:20] for name in REASONS])
def test_the_reason_is_said(target: str, reason: str, tmp_path: Path) -> None:
    for name, content in [("script", "#!/no/such/interpreter\n"), ("text", "no program"), ("plain", "#!/bin/sh\n")]:
        (tmp_path / name).write_text(content)
        (tmp_path / name).chmod(0o644 if name == "plain" else 0o755)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "no-elf").write_bytes(b"no program" * 10)
    (tmp_path / "no-elf").chmod(0o755)
    (tmp_path / "damaged").write_bytes(program_with_interpreter(tmp_path / "no-elf"))
    (tmp_path / "damaged").chmod(0o755)
    path = launcher(tmp_path, target)
    with (tmp_path / "busy").open("wb") as file:
        file.write(COMPILED.read_bytes())
        (tmp_path / "busy").chmod(0o755)
        assert said(path) == f"launcher: cannot execute {tmp_path}/bin/{target}: {reason}\n"


def program_with_interpreter(path: Path) -> bytes:
    """Return the headers of a program that names its interpreter."""
    name = os.fsencode(path) + b"\0"
    header = struct.pack("<4s5B7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 0, 2, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return header + struct.pack("<IIQQQQQQ", PT_INTERP, 4, 120, 0, 0, len(name), len(name), 1) + name


def test_a_launcher_without_a_target(tmp_path: Path) -> None:
    assert said(launcher(tmp_path, "")) == "launcher: was not finished: it has no target\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may leave its root directory")
def test_a_machine_without_proc(tmp_path: Path) -> None:
    launcher(tmp_path, "../missing")
    command = ["/usr/sbin/chroot", str(tmp_path), "/bin/launcher"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (
        CANNOT_EXECUTE,
        f"launcher: cannot find its own file; is /proc mounted? /proc/self/exe: {MISSING}\n",
    )
