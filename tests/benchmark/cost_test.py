"""Tests of the measures, on processes that use a known amount of something."""

import os
import subprocess
import sys
from pathlib import Path

from tests.benchmark.cost import Meter, descendants, kind

MEGABYTE = 1 << 20
#: Each takes what the test then looks for; a grandchild shows that whole families are counted.
BUSY = "import time\nwhile time.process_time() < 0.5: pass"
LARGE = f"import time\nblock = b'x' * (150 * {MEGABYTE})\ntime.sleep(0.5)"
NESTED = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', sys.argv[1]], check=True)"


def run(program: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-c", program, *arguments], check=True)


def test_cpu_of_children_and_theirs() -> None:
    with Meter(os.getpid()) as meter:
        run(NESTED, BUSY)
    assert meter.cost.cpu >= 0.5
    assert meter.cost.seconds >= 0.5


def test_cpu_of_a_child_that_stays() -> None:
    """As Bazel's persistent workers do, and of what they had done by others."""
    program = f"{NESTED}\nprint(flush=True)\nsys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", program, BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout
        with Meter(os.getpid()) as meter:
            child.stdout.readline()
    assert 0.4 <= meter.cost.cpu < 5
    assert 0.4 <= meter.cost.programs[Path(sys.executable).name] <= meter.cost.cpu


def test_memory_of_the_largest_process() -> None:
    with Meter(os.getpid()) as meter:
        run(NESTED, LARGE)
    assert 150 * MEGABYTE <= meter.cost.peak < 300 * MEGABYTE
    assert list(meter.cost.memory) == [Path(sys.executable).name]


def test_bytes_written_to_a_disk(tmp_path: Path) -> None:
    """Bytes of children count; a link costs next to nothing. On a file system in memory there is nothing to count."""
    file = tmp_path / "file"
    with Meter(os.getpid()) as meter:
        run(f"open({str(file)!r}, 'wb').write(bytes(20 * {MEGABYTE}))")
        os.link(file, tmp_path / "link")
    in_memory = subprocess.run(["stat", "-f", "-c", "%T", str(tmp_path)], capture_output=True, text=True, check=True)
    expected = 0 if in_memory.stdout.strip() in ("tmpfs", "ramfs") else 20 * MEGABYTE
    assert expected <= meter.cost.written <= expected + MEGABYTE


def test_processes_are_named_after_their_tools() -> None:
    assert kind(["/x/python3", "-I", "-S", "-B", "bazel-out/bin/tools/actions/pack_tool.pyz", "@params"]) == "pack"
    assert kind(["/x/patchelf", "--set-rpath"]) == "patchelf"


def test_families_of_processes() -> None:
    assert descendants(1, {2: 1, 3: 2, 4: 9, 5: 3, 1: 0}) == [2, 3, 5]
