"""Measures the search path edit against cp and patchelf, on the same files in the same run.

    python3 -m tools.lib.elf.benchmark [--folder DIR] [FILE...]

Without files, it makes libraries of 1 MB, 100 MB and 1.6 GB, most of it one block as device code is. For each file:

* plan: time to read the facts and compute the patch, and the memory that takes beyond Python itself;
* write: time to write the new file in this process, beside `cp --reflink=never` (warm cache, medians);
* command: time and peak memory of a whole `set-rpath` process, beside the patchelf calls that do the same.
"""

import argparse
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.lib.common.wheel_scripts import put_on_path
from tools.lib.elf.editor import plan_patch
from tools.lib.elf.patch import Patch
from tools.lib.elf.reader import read_elf
from tools.lib.elf.sample import Sample
from tools.lib.elf.search_path import SearchPath

SIZES = (1_000_000, 100_000_000, 1_600_000_000)
ENTRIES = tuple(f"$ORIGIN/../../_rocm_sdk_core/{name}" for name in ("lib", "lib/rocm_sysdeps/lib", "lib/llvm/lib"))
MARKER = b"here goes the block\0"
BLOCK = os.urandom(1 << 20)
PLAN_MEMORY = """
import sys
from pathlib import Path
from tools.lib.elf.benchmark import plan
peak = lambda: int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
before = peak()
plan(sys.argv[1])
print(peak() - before)
"""


@dataclass(frozen=True)
class Cost:
    """What a process cost: seconds, and its peak resident memory in bytes (Linux: no less than this program's own)."""

    seconds: float
    memory: int


def make_library(path: Path, size: int) -> None:
    """Write a sample whose `.comment` section is stretched so that the file has about `size` bytes."""
    data = Sample(tail=MARKER, zeros=100).build()
    at = data.index(MARKER)
    count = size // len(BLOCK) * len(BLOCK) or len(BLOCK)
    whole = bytearray(data)
    path.write_bytes(data)
    with path.open("rb") as file:
        elf = read_elf(file, str(path))
    for section in elf.section_headers:
        if section.offset > at:
            struct.pack_into("<Q", whole, section.position + 24, section.offset + count)
        elif section.name == ".comment":
            struct.pack_into("<Q", whole, section.position + 32, section.size + count)
    struct.pack_into("<Q", whole, 0x28, elf.shoff + count)
    with path.open("wb") as out:
        out.write(whole[:at])
        for _ in range(count // len(BLOCK)):
            out.write(BLOCK)
        out.write(whole[at:])


def plan(path: str) -> Patch:
    """Read a file's facts and compute the patch that adds the entries."""
    with open(path, "rb") as file:
        return plan_patch(read_elf(file, path), file, SearchPath(tuple(ENTRIES), extend=True))


def write(path: Path, output: Path) -> None:
    """Plan, and write the new file."""
    patch = plan(str(path))
    with path.open("rb") as file, output.open("wb") as out:
        patch.write(file, out)


def seconds(action: Callable[[], object]) -> float:
    """Time one call."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def run(*command: str) -> Cost:
    """Run a command to its end. Raises CalledProcessError when it fails."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Cost(time.perf_counter() - started, usage.ru_maxrss * 1024)


def patchelf(path: Path, output: Path) -> Cost:
    """Do what packaging did before: copy, add each entry, turn the result into DT_RPATH."""
    costs = [run("cp", "--reflink=never", str(path), str(output)), run("chmod", "u+w", str(output))]
    costs += [run("patchelf", "--add-rpath", entry, str(output)) for entry in ENTRIES]
    text = subprocess.run(["patchelf", "--print-rpath", str(output)], capture_output=True, text=True, check=True).stdout
    costs.append(run("patchelf", "--force-rpath", "--set-rpath", text.strip(), str(output)))
    return Cost(sum(cost.seconds for cost in costs), max(cost.memory for cost in costs))


def measure(path: Path, folder: Path, rounds: int) -> None:
    """Print what the edit of one file costs."""
    ours, theirs = folder / "ours", folder / "theirs"
    run("cp", "--reflink=never", str(path), str(ours))
    patch = plan(str(path))
    print(f"{path.name}: {path.stat().st_size / 1e6:,.1f} MB, {patch.strategy.value}")
    planned = statistics.median(seconds(lambda: plan(str(path))) for _ in range(2 * rounds + 1))
    answer = subprocess.run([sys.executable, "-c", PLAN_MEMORY, str(path)], capture_output=True, text=True, check=True)
    print(f"  plan:    {1000 * planned:8.1f} ms, {int(answer.stdout) / 1024:.1f} MiB")
    times: dict[str, list[float]] = {"write": [], "cp": []}
    for _ in range(rounds):
        for name in times:
            ours.unlink(missing_ok=True)
            copy = ("cp", "--reflink=never", str(path), str(ours))
            times[name].append(seconds(lambda: write(path, ours)) if name == "write" else run(*copy).seconds)
    medians = {name: statistics.median(values) for name, values in times.items()}
    ratio = medians["write"] / medians["cp"]
    print(f"  write:   {1000 * medians['write']:8.1f} ms; cp {1000 * medians['cp']:.1f} ms: ratio {ratio:.2f}")
    ours.unlink(missing_ok=True)
    extend = ("set-rpath", str(path), "--output", str(ours), "--extend", *ENTRIES)
    cost = run(sys.executable, "-m", "tools.lib.elf.tool", *extend)
    print(f"  command: {1000 * cost.seconds:8.1f} ms, {cost.memory / (1 << 20):.1f} MiB")
    if shutil.which("patchelf"):
        other = patchelf(path, theirs)
        print(f"  patchelf:{1000 * other.seconds:8.1f} ms, {other.memory / (1 << 20):.1f} MiB", end="")
        print(f": {other.seconds / cost.seconds:.1f} times as long")
    for made in (ours, theirs):
        made.unlink(missing_ok=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--folder", type=Path, help="where to write (three times the largest file; default: a new folder)"
    )
    parser.add_argument("--rounds", type=int, default=5, help="how often each thing is measured (default: %(default)s)")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    arguments = parser.parse_args(argv)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        for path in arguments.files:
            measure(path, folder, arguments.rounds)
        for size in () if arguments.files else SIZES:
            made = folder / f"made-{size}.so"
            make_library(made, size)
            measure(made, folder, arguments.rounds)
            made.unlink()
    return 0


if __name__ == "__main__":
    put_on_path()
    os.chdir(os.environ.get("BUILD_WORKING_DIRECTORY", "."))  # Where `bazel run` was typed.
    sys.exit(main())
