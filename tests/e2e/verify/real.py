"""The packages of real ROCm are as they should be, and verifying them costs little.

    python3 -m tests.e2e.verify.real --dist DIR [--config FILE] [--max-seconds 30] [--max-memory 400]

Run it from the top of the workspace. `rocm-wheels verify`, as people install it, reads the directory with ROCm's
settings; each finding is declared in real.toml, and in what `--config` names, with its reason. Time is the command's
from start to end; memory is all its processes together, what they share counted once (PSS): the biggest of samples.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from tests.e2e.testing.builds import WORKSPACE
from tests.e2e.testing.wheels_command import installed

CONFIGS = (WORKSPACE / "packaging/verify.toml", Path(__file__).resolve().with_suffix(".toml"))
#: Seconds between two samples of memory.
INTERVAL = 0.1


def children(parent: int) -> list[int]:
    """Return the processes that a process started, and those that they started (Linux)."""
    found = [parent]
    for process in found:
        with suppress(OSError):
            for task in Path(f"/proc/{process}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
    return found


def memory(parent: int) -> int:
    """Return the memory of a process and all below it, in bytes: the proportional set sizes."""
    total = 0
    for process in children(parent):
        with suppress(OSError):
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    return total


def main() -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, required=True, help="directory of the distributions")
    parser.add_argument("--config", type=Path, action="append", default=[], help="more exceptions, of this input")
    parser.add_argument("--max-seconds", type=float, help="fail if it takes longer")
    parser.add_argument("--max-memory", type=int, help="fail if it takes more, in MB (10^6 bytes)")
    arguments = parser.parse_args()
    configs = [f"--config={path.absolute()}" for path in (*CONFIGS, *arguments.config)]
    with tempfile.TemporaryDirectory(prefix="rocm-wheels-") as folder:
        command = [installed(Path(folder, "env")), "verify", *configs, "--all", arguments.dist.absolute()]
        started, peak = time.monotonic(), 0
        with subprocess.Popen(command, cwd=WORKSPACE) as process:
            while process.poll() is None:
                peak = max(peak, memory(process.pid))
                time.sleep(INTERVAL)
        seconds = time.monotonic() - started
    print(f"{seconds:.1f} s, {peak / 1e6:.0f} MB")
    if arguments.max_seconds is not None and seconds > arguments.max_seconds:
        sys.exit(f"took {seconds:.1f} s; expected {arguments.max_seconds} at most")
    if arguments.max_memory is not None and peak > arguments.max_memory * 1e6:
        sys.exit(f"took {peak / 1e6:.0f} MB; expected {arguments.max_memory} at most")
    return process.returncode


if __name__ == "__main__":
    raise SystemExit(main())
