"""Measures what comes before the first byte is packed: analysis, and planning a directory of very many files.

    bazel run //tests/benchmark:planning -- --artifacts DIR --files 100000

Prints, as medians over all runs:

  analysis        all packages of DIR analysed again, because an option changed (the version); the server is running;
  fetch to plan   an artifacts directory with so many small headers, beside the artifacts of DIR whose files are all
                  small: from nothing (`clean`, never scanned) to the plans of all packages.

Nothing in DIR is changed. Space: a small file for each of `--files`.
"""

import argparse
import itertools
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from tests.benchmark.artifacts import BIG_FILE_BYTES, MANIFEST, link_or_copy
from tests.benchmark.scratch import scratch_workspace
from tests.e2e.testing.builds import Workspace, built

ALL = "//packaging:all_wheels"
#: Headers in one directory.
IN_DIRECTORY = 100


def small_artifacts(source: Path) -> list[Path]:
    """List the artifacts of which no file is big."""
    return [
        folder
        for folder in sorted(source.iterdir())
        if (folder / MANIFEST).exists()
        and all(path.lstat().st_size < BIG_FILE_BYTES for path in folder.rglob("*") if path.is_file())
    ]


def many_files(source: Path, target: Path, count: int) -> Path:
    """Make an artifacts directory with `count` headers more, spread over the artifacts with headers; return it."""
    folders = small_artifacts(source)
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            new = target / path.relative_to(source)
            if path.is_dir() and not path.is_symlink():
                new.mkdir(parents=True, exist_ok=True)
            else:
                new.parent.mkdir(parents=True, exist_ok=True)
                link_or_copy(str(path), str(new))
    with_headers = [folder for folder in folders if "_dev_" in folder.name]
    for number in range(count):
        folder = with_headers[number % len(with_headers)]
        stage = (folder / MANIFEST).read_text(encoding="utf-8").split()[0]
        header = target / folder.name / stage / f"include/many/{number // IN_DIRECTORY}/{folder.name}_{number}.h"
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text(f"#define NUMBER {number}\n", encoding="utf-8")
    return target


def analysis(workspace: Workspace, numbers: itertools.count[int]) -> float:
    """Return the seconds that it takes to analyse all packages with a version that none had before."""
    option = f"--//packaging:version=7.10.0.dev{next(numbers)}"
    return built(workspace.build(ALL, options=("--nobuild", option))).seconds


def plans(workspace: Workspace) -> list[str]:
    """List the targets whose outputs are plans."""
    found = workspace.run(
        "query",
        'filter("_plan$", //packaging:all)',
        f"--repo_env=ROCM_ARTIFACTS_DIR={workspace.artifacts}",
        "--noshow_progress",
    )
    targets = [line for line in found.stdout.splitlines() if line.startswith("//packaging:")]
    if not targets:
        raise RuntimeError(f"expected plans in //packaging, found none:\n{found.stdout}")
    return targets


def fetch_to_plan(workspace: Workspace, targets: list[str], scanned: Path) -> float:
    """Return the seconds from a directory that was never scanned to the plans of its packages."""
    workspace.run("clean", "--symlink_prefix=/")
    moved = scanned.with_name(f"{scanned.name}-{time.monotonic_ns()}")
    scanned.rename(moved)
    try:
        return built(replace(workspace, artifacts=moved).build(*targets)).seconds
    finally:
        moved.rename(scanned)


def main() -> int:
    """Parse the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifacts", type=Path, required=True, help="artifacts directory")
    parser.add_argument("--files", type=int, default=100_000, help="small files of the large directory")
    parser.add_argument("--runs", type=int, default=3, help="how often each is measured")
    parser.add_argument("--scratch", type=Path, help="folder for builds and files (default: a temporary one)")
    args = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="rocm-planning-", dir=args.scratch) as folder,
        scratch_workspace(Path(folder), args.artifacts) as workspace,
    ):
        numbers = itertools.count(int(time.time()))
        analysis(workspace, numbers)  # fetches
        seconds = [analysis(workspace, numbers) for _ in range(args.runs)]
        print(f"analysis: {statistics.median(seconds):.2f} s of {[round(one, 2) for one in seconds]}", flush=True)
        many = many_files(args.artifacts.resolve(), Path(folder, "many"), args.files)
        large = replace(workspace, artifacts=many)
        targets = plans(large)
        built(large.build(*targets))  # the tools, too
        seconds = [fetch_to_plan(large, targets, many) for _ in range(args.runs)]
        print(f"{args.files} files, fetch to plan: {statistics.median(seconds):.2f} s of {seconds}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
