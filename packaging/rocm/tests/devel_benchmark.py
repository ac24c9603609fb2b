"""Measures how long making the development tree takes, beside `tar -x` of the same archive: a program, no test.

    python devel_benchmark.py                       # made trees: 20,000 files, and 10 big ones, of 1 GB each
    python devel_benchmark.py --site SITE_PACKAGES  # the devel package that is installed there, copied first

Each run unpacks to a fresh directory with either program, by turns, and times the whole process. Printed are medians
and their ratio. Nothing is synced to disk by either; what earlier runs left to be written is synced before each.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fake_sdk import VERSION, distributions, write_core, write_devel

SOURCE = Path(__file__).parent.parent / "src"
TREE = "_rocm_sdk_devel"
GIGABYTE = 1 << 30
FILES_A_DIRECTORY = 50


@dataclass(frozen=True)
class Case:
    """What is measured: a directory laid out like site-packages, and the modules to run."""

    name: str
    site: Path


@dataclass(frozen=True)
class Result:
    """Seconds of each run with either program."""

    tar: list[float]
    sdk: list[float]

    @property
    def ratio(self) -> float:
        """How many times as long as tar it takes."""
        return statistics.median(self.sdk) / statistics.median(self.tar)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", type=Path, help="site-packages with rocm and its packages, instead of made trees")
    parser.add_argument("--directory", type=Path, help="where to work; its file system is what is measured")
    parser.add_argument("--runs", type=int, default=5, help="runs of which the median is taken (default: %(default)s)")
    parser.add_argument("--bytes", type=int, default=GIGABYTE, help="size of made trees (default: %(default)s)")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="devel-benchmark-", dir=arguments.directory) as scratch:
        for case in make_cases(Path(scratch), arguments.site, arguments.bytes):
            print(describe(case.name, measure(case, arguments.runs)), flush=True)
            shutil.rmtree(case.site)
    return 0


def make_cases(scratch: Path, site: Path | None, size: int) -> Iterator[Case]:
    """Make each case when its turn comes: they are large."""
    if site is not None:
        copy = scratch / "site"
        copy.mkdir()
        # Hard links where they can be: the runtime packages are only linked to.
        for entry in sorted(site.iterdir()):
            if entry.name != TREE:
                subprocess.run(["cp", "-al", str(entry), str(copy)], check=True)
        yield Case("installed", copy)
        return
    for name, files in (("many files", 20_000), ("few files", 10)):
        yield Case(f"{name} ({files})", make_site(scratch / name.replace(" ", "-"), files, size))


def make_site(site: Path, files: int, size: int) -> Path:
    """Lay out core and a devel package with that many files, whose sizes vary like the sizes of real files."""
    site.mkdir()
    index = site.parent / "index"
    index.mkdir()
    write_core(index, VERSION)
    write_devel(index, VERSION, b"")
    for wheel in sorted(index.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)
    shutil.rmtree(index)
    shutil.copytree(SOURCE / "rocm_sdk", site / "rocm_sdk", ignore=shutil.ignore_patterns("__pycache__"))
    (site / "rocm_sdk/_distributions.json").write_text(json.dumps(distributions("split")))
    write_archive(site / "rocm_sdk_devel/_devel.tar", files, size)
    return site


def write_archive(path: Path, files: int, size: int) -> None:
    """Write a tar archive of `files` files of `size` bytes in sum, which do not compress."""
    generator = random.Random(1)
    weights = [generator.lognormvariate(0, 1.2) for _ in range(files)]
    scale = size / sum(weights)
    block = generator.randbytes(1 << 20)
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        for number, weight in enumerate(weights):
            member = tarfile.TarInfo(f"{TREE}/include/part{number // FILES_A_DIRECTORY:04}/header{number:06}.h")
            member.size = int(weight * scale)
            tar.addfile(member, _Repeated(block, member.size))


class _Repeated(io.RawIOBase):
    """A stream of `size` bytes that repeats a block."""

    def __init__(self, block: bytes, size: int) -> None:
        self._block = block
        self._left = size

    def read(self, size: int = -1) -> bytes:
        piece = self._block[: min(size, self._left)]
        self._left -= len(piece)
        return piece


def measure(case: Case, runs: int) -> Result:
    """Run either program by turns; a first run of each, which fills caches, does not count."""
    result = Result([], [])
    for _ in range(runs + 1):
        result.tar.append(time_tar(case))
        result.sdk.append(time_sdk(case))
    return Result(result.tar[1:], result.sdk[1:])


def time_tar(case: Case) -> float:
    """Return how long `tar -x` takes."""
    target = case.site / "tar"
    target.mkdir()
    archive = case.site / "rocm_sdk_devel/_devel.tar"
    seconds = time_command(["tar", "-x", "-f", str(archive), "-C", str(target)], case.site)
    shutil.rmtree(target)
    return seconds


def time_sdk(case: Case) -> float:
    """Return how long `rocm-sdk path --root` takes on a new installation."""
    seconds = time_command([sys.executable, "-m", "rocm_sdk", "path", "--root"], case.site)
    if not (case.site / TREE / ".rocm-sdk-state.json").exists():
        raise RuntimeError(f"{case.site / TREE} was not made")
    shutil.rmtree(case.site / TREE)
    return seconds


def time_command(command: list[str], site: Path) -> float:
    """Return how many seconds a command takes; RuntimeError if it fails."""
    os.sync()
    environment = {name: value for name, value in os.environ.items() if name != "ROCM_SDK_DEVEL_ROOT"}
    start = time.perf_counter()
    done = subprocess.run(command, env={**environment, "PYTHONPATH": str(site)}, stdout=subprocess.DEVNULL, check=False)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise RuntimeError(f"{command} ended with {done.returncode}")
    return seconds


def describe(name: str, result: Result) -> str:
    """Return a line with medians, ranges and the ratio."""
    tar, sdk = (
        f"{statistics.median(times):.3f} s ({min(times):.3f} to {max(times):.3f})" for times in (result.tar, result.sdk)
    )
    return f"{name:20} tar -x {tar:28} rocm-sdk {sdk:28} ratio {result.ratio:.2f}"


if __name__ == "__main__":
    sys.exit(main())
