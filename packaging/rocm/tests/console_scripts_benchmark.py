"""Measures what console scripts cost over their tools, beside the interpreter alone: a program, no test.

    python console_scripts_benchmark.py                      # scripts that pip, and uv, writes for this Python
    python console_scripts_benchmark.py --therock CHECKOUT   # and AMD's own scripts, for the same tools

The packages are planted, and the tool is a script of one line for `sh`. Every round runs each command once. Printed are
medians of the differences to the tool in the same round, in milliseconds: of elapsed time, and of the processor's; then
the least of all rounds less the tool's least, which other work on the machine changes less. Compare rows of one table.

Before version 25.0, pip writes scripts that import `re`. That costs more than all that the packages do.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from environments import Environment, find_uv
from fake_sdk import FakeSdk, make_sdk

#: Where AMD's sources have what its wheels have as `rocm_sdk_core`.
TEMPLATES = Path("build_tools/packaging/python/templates")
AMDS_FILES = {"_cli.py": "rocm-sdk-core/src/rocm_sdk_core/_cli.py", "_dist_info.py": "rocm/src/rocm_sdk/_dist_info.py"}
TOOL = "tool"


@dataclass(frozen=True)
class Cost:
    """Milliseconds of one run: elapsed, and of the processor in user and system mode."""

    wall: float
    cpu: float


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print a table for each installer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--runs", type=int, default=51, help="rounds of which the median is taken (default: %(default)s)"
    )
    parser.add_argument("--therock", type=Path, metavar="CHECKOUT", help="sources of AMD's packages, to compare with")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="console-scripts-benchmark-") as scratch:
        sdk = make_sdk(Path(scratch) / "sdk", layout="split")
        for installer in ["pip", *(["uv"] if find_uv() else [])]:
            commands = make_commands(Path(scratch) / installer, sdk, installer, arguments.therock)
            print(
                describe(f"{installer}, Python {sys.version.split()[0]}", measure(commands, arguments.runs)), flush=True
            )
    return 0


def make_commands(scratch: Path, sdk: FakeSdk, installer: str, therock: Path | None) -> dict[str, list[str]]:
    """Install the packages with and without the development tree; return what is to be run, by what it shows."""
    core, devel = (Environment.create(scratch / name, installer) for name in ("core", "devel"))
    core.install(sdk.index, "rocm[profiler]")
    devel.install(sdk.index, "rocm[devel]")
    devel.rocm_sdk("init")
    python = str(devel.python)
    commands = {
        TOOL: [str(devel.site / "_rocm_sdk_core/bin/hipcc")],
        "python -I -S -c pass": [python, "-I", "-S", "-c", "pass"],
        "python -c pass": [python, "-c", "pass"],
        "python -c 'import re'": [python, "-c", "import re"],
        "rocminfo": [str(devel.root / "bin/rocminfo")],
        "rocprof-sys-run": [str(core.root / "bin/rocprof-sys-run")],
        "hipcc, without the devel package": [str(core.root / "bin/hipcc")],
        "hipcc, with a devel tree": [str(devel.root / "bin/hipcc")],
        "hipcc, if the tree has to be looked at": ["/usr/bin/env", "ROCM_SDK_TARGET_FAMILY=gfx942"],
    }
    commands["hipcc, if the tree has to be looked at"].append(str(devel.root / "bin/hipcc"))
    if therock is not None:
        amds = Environment.create(scratch / "amd", installer)
        amds.install(sdk.index, "rocm[devel]")
        amds.rocm_sdk("init")
        put_amds_scripts(amds.site / "rocm_sdk_core", therock)
        commands["AMD's amdclang, with a devel tree"] = [str(amds.root / "bin/amdclang")]
    return commands


def put_amds_scripts(package: Path, therock: Path) -> None:
    """Put the sources of AMD's console scripts where this project's are; its build fills in the suffix of trees."""
    for name, source in AMDS_FILES.items():
        text = (therock / TEMPLATES / source).read_text("utf-8")
        (package / name).unlink()
        (package / name).write_text(
            text.replace('PY_PACKAGE_SUFFIX_NONCE: str = "_DEFAULT"', 'PY_PACKAGE_SUFFIX_NONCE = ""')
        )


def measure(commands: Mapping[str, Sequence[str]], runs: int) -> dict[str, list[Cost]]:
    """Run all commands by turns; the first two rounds, which fill caches, do not count."""
    # Python compiles modules once, unless a variable says otherwise.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ROCM_"))}
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(runs + 2):
        for name, command in commands.items():
            costs[name].append(run(command, environment))
    return {name: costs[2:] for name, costs in costs.items()}


def run(command: Sequence[str], environment: Mapping[str, str]) -> Cost:
    """Run a command without its output and return what it cost; RuntimeError if it fails."""
    start = time.perf_counter()
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    process = os.posix_spawn(command[0], list(command), environment, file_actions=quiet)
    _, status, usage = os.wait4(process, 0)
    wall = time.perf_counter() - start
    if status:
        raise RuntimeError(f"{command} ended with {os.waitstatus_to_exitcode(status)}")
    return Cost(wall * 1000, (usage.ru_utime + usage.ru_stime) * 1000)


def describe(title: str, costs: Mapping[str, Sequence[Cost]]) -> str:
    """Return a table: the tool's own cost, then what each command costs over it."""
    lines = [f"{title:42} {'wall':>7} {'CPU':>7}   least wall, CPU"]
    for name, own in costs.items():
        base = [Cost(0, 0)] * len(own) if name == TOOL else costs[TOOL]
        over = [Cost(one.wall - tool.wall, one.cpu - tool.cpu) for one, tool in zip(own, base, strict=True)]
        cells = [
            statistics.median(cost.wall for cost in over),
            statistics.median(cost.cpu for cost in over),
            min(cost.wall for cost in own) - min(cost.wall for cost in base),
            min(cost.cpu for cost in own) - min(cost.cpu for cost in base),
        ]
        lines.append(f"{name:42} {' '.join(f'{cell:7.1f}' for cell in cells)}")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
