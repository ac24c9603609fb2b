"""`rocm-wheels` without Bazel: installed by pip and uv under each Python at hand, and each sub-command on a real wheel.

    python3 -m tests.e2e.wheels_command.commands

The wheel is of PyPI, and has device code. Besides what each command prints, this checks that the distribution installs
one package, that `--help` starts at once, and that the command works from `python -m` and `uvx`.
"""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.e2e.install.interpreters import interpreters
from tests.e2e.testing.commands import attempt
from tests.e2e.testing.wheels_command import built_wheel, installed

#: A small wheel with code for many GPUs.
FAT = "torch-scatter-rocm==2.1.2.post7"
OLDEST = (3, 11)
#: Seconds in which `--help` must start: the median of several runs. The aim is 0.2; other work may slow this machine.
START = 1.0


def run(*command: object, expected: int = 0) -> str:
    """Run a command and return what it prints; ends the program if it exits with another status."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != expected:
        sys.exit(f"{command}: exit status {done.returncode}, expected {expected}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_package(python: Path) -> None:
    """Check that the distribution installs its package and nothing beside it."""
    program = "from importlib.metadata import files; print(*sorted({f.parts[0] for f in files('rocm-wheels')}))"
    top = set(run(python, "-c", program).split())
    assert {name for name in top if not name.endswith(".dist-info")} == {"..", "rocm_wheels"}, top


def check_commands(command: Path, fat: Path, scratch: Path) -> None:
    """Run each sub-command."""
    assert fat.name in run(command, "verify", "--no-set", "--all", fat, expected=1)
    run(command, "split", fat, "--targets=gfx942,gfx1100", f"--output={scratch / 'thin'}")
    thin = sorted((scratch / "thin").rglob("*.whl"))
    assert len(thin) == 2, thin
    found = run(command, "code", "list", thin[0])
    targets = {line.split()[0] for line in found.splitlines() if " code objects " in line and "(no target)" not in line}
    assert targets == {thin[0].parent.name}, found
    run(command, "require-sdk", fat, f"--sdk={fat.parent}", f"--output={scratch / 'out'}", expected=1)


def seconds(command: Path) -> float:
    """Return how long `--help` takes: the median."""
    times = []
    for _ in range(7):
        started = time.monotonic()
        run(command, "--help")
        times.append(time.monotonic() - started)
    return statistics.median(times)


def main() -> int:
    """Install and use the command under each Python."""
    wheel = built_wheel()
    with tempfile.TemporaryDirectory(prefix="rocm-wheels-") as name:
        scratch = Path(name)
        download = (
            "--quiet",
            "--no-deps",
            "--only-binary=:all:",
            "--python-version=3.13",
            f"--dest={scratch / 'fat'}",
            FAT,
        )
        run(sys.executable, "-m", "pip", "download", *download)
        (fat,) = (scratch / "fat").glob("*.whl")
        supported = [path for version, path in interpreters().items() if version >= OLDEST]
        # Debian's own have no ensurepip unless a further package is installed.
        usable = [path for path in supported if not attempt(path, "-c", "import ensurepip, venv").returncode]
        for number, python in enumerate(usable):
            folder = scratch / str(number)
            command = installed(folder / "env", wheel, python)
            check_package(folder / "env/bin/python")
            check_commands(command, fat, folder)
            run(folder / "env/bin/python", "-m", "rocm_wheels", "--version")
            took = seconds(command)
            print(f"{python}: all commands work; --help in {took:.2f} s", flush=True)
            if took > START:
                sys.exit(f"--help takes {took:.2f} s; expected {START} at most")
        uv = shutil.which("uv")
        if uv:
            run(uv, "tool", "run", f"--from={wheel}", "rocm-wheels", "--version")
            print("uvx: works")
    return 0


if __name__ == "__main__":
    sys.exit(main())
