"""Measures what packaging costs: cold, and after each kind of change; beside a sequential flow, on the same input.

    bazel run //tests/benchmark:packages -- --artifacts DIR --output RESULTS

Builds //packaging:all_wheels of a copy of the artifacts (links to the same files; nothing in DIR is changed) in an
output base of its own. Each run makes a build from nothing, then one change after the other with a build after each.
For each build it says, as medians over all runs:

  wall        seconds from calling bazelw to its end;
  CPU         user and system time of all processes that Bazel started: of the actions, not of Bazel;
  memory      the largest resident memory of any such process;
  written     bytes that Bazel and these processes gave to a file system on a disk;
  produced    size of the distributions that this build made anew.

"Cold" is after `clean`, by a server that has built nothing but the tools (for the embedded SDK) and knows nothing of
the input: the clock runs through the catalog's scan and Bazel's hashing of the input. The input itself is in the page
cache if memory suffices, for both flows. Files that are changed are on the disk before the clock starts.

The scenarios: cold; no-op; a small library changed, librocfft, the biggest library; a header changed; only the version
changed; nothing changed, but the server is new.

It takes space: twice the size of the distributions, once more the size of the biggest package, and the size of the
changed files; for `--scale` as many times as it says.
"""

import argparse
import itertools
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from lib.common.wheel_scripts import put_on_path
from lib.plan.model import Plan
from tests.benchmark import report
from tests.benchmark.artifacts import copy_artifacts
from tests.benchmark.cost import Cost
from tests.benchmark.scenarios import measure, scenarios
from tests.benchmark.scratch import remove
from tests.benchmark.sequential import make_packages
from tests.e2e.testing.builds import Workspace, built

ALL = "//packaging:all_wheels"
#: //tests/benchmark/scale has packages for so many copies.
MOST_COPIES = 3


def progress(message: str) -> None:
    """Tell how far we are."""
    print(message, file=sys.stderr, flush=True)


def targets(factor: int) -> tuple[str, ...]:
    """Return what is built of an input with that many copies of the artifacts."""
    return (ALL, *(f"//tests/benchmark/scale/copy{number}:all_wheels" for number in range(1, factor)))


def measure_scale(workspace: Workspace, factor: int, args: argparse.Namespace, numbers: Iterator[int]) -> report.Costs:
    """Run all scenarios on one input, as often as wished."""
    assert workspace.artifacts
    wanted = [one for one in scenarios(workspace.artifacts) if args.scenarios is None or one.name in args.scenarios]
    costs: report.Costs = {one.name: [] for one in wanted}
    options = tuple(args.option)
    progress(f"{factor}x: building once, which also fetches what is needed")
    built(workspace.build(*targets(factor), options=options))
    for run in range(1, args.runs + 1):
        for scenario in wanted:
            cost = measure(workspace, scenario, targets(factor), next(numbers), options)
            costs[scenario.name].append(cost)
            progress(
                f"{factor}x, run {run} of {args.runs}: {scenario.name}, {scenario.description}: {cost.seconds:.1f} s"
            )
    return costs


def measure_sequential(workspace: Workspace, scratch: Path, number: int) -> Cost:
    """Make the wheels that the build makes, one step after the other."""
    assert workspace.artifacts
    progress("the same packages by patchelf and wheel pack, one step after the other")
    put_on_path()  # not for Bazel: the workspace has the PATH that we were called with
    # With a version of its own each wheel is linked, and so is named among what the build did.
    build = built(workspace.build(ALL, options=(f"--//packaging:version=7.10.0.dev{number}",)))
    root = Path(workspace.info("execution_root"))
    plans = {}
    for action in build.ran("RocmLink"):
        wheel = root / action.output
        plan = wheel.with_name(action.label.partition(":")[2].removesuffix("_wheel") + ".plan.json")
        plans[wheel] = Plan.from_document(json.loads(plan.read_text(encoding="utf-8")))
    cost = make_packages(plans, workspace.artifacts, scratch / "sequential")
    shutil.rmtree(scratch / "sequential")
    progress(f"patchelf and wheel pack: {cost.seconds:.1f} s")
    return cost


def measure_all(args: argparse.Namespace, scratch: Path) -> tuple[dict[int, report.Costs], Cost | None]:
    """Run everything that was asked for, in a folder that may be filled."""
    workspace_directory = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    # Version numbers and changes must differ from all that an output base that is used again may have seen.
    numbers = itertools.count(int(time.time()))
    scaled: dict[int, report.Costs] = {}
    sequential: Cost | None = None
    for factor in args.scale:
        folder = scratch / f"artifacts-{factor}x"
        shutil.rmtree(folder, ignore_errors=True)
        workspace = Workspace(
            workspace_directory,
            copy_artifacts(args.artifacts, folder, factor),
            environment={"PATH": os.environ["PATH"]},
            startup=(f"--output_base={scratch / 'output_base'}", "--max_idle_secs=600"),
            options=("--symlink_prefix=/", "--disk_cache="),  # the workspace's own bazel-bin stays as it is
        )
        try:
            scaled[factor] = measure_scale(workspace, factor, args, numbers)
            if args.sequential and factor == min(args.scale):
                sequential = measure_sequential(workspace, scratch, next(numbers))
        finally:
            workspace.run("shutdown")
        shutil.rmtree(folder)
    return scaled, sequential


def publish(scaled: dict[int, report.Costs], sequential: Cost | None, output: Path | None) -> None:
    """Print the tables and, if there is a place for them, write all results there."""
    costs = scaled[min(scaled)]
    compared = costs | ({report.SEQUENTIAL: [sequential]} if sequential else {})
    tables = [report.costs_table(compared, report.SEQUENTIAL), report.memory_table(costs)]
    if len(scaled) > 1:
        tables.append(report.scale_table(scaled))
    text = "\n".join(tables)
    print(text)
    if not output:
        return
    output.mkdir(parents=True, exist_ok=True)
    (output / "packages.md").write_text(text, encoding="utf-8")
    results = json.dumps(report.document(scaled, sequential), indent=1)
    (output / "packages.json").write_text(results + "\n", encoding="utf-8")
    report.draw_costs(compared, output / "packages.svg")
    if len(scaled) > 1:
        report.draw_scale(scaled, output / "scale.svg")
    progress(f"written: {output}/packages.md, .json, .svg")


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line; paths are relative to where `bazel run` was typed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))

    def path(text: str) -> Path:
        return Path(where, text).resolve()

    def scale(text: str) -> list[int]:
        factors = sorted({int(part) for part in text.split(",")})
        if not 1 <= factors[0] <= factors[-1] <= MOST_COPIES + 1:
            raise argparse.ArgumentTypeError(f"expected numbers from 1 to {MOST_COPIES + 1}, like 1,2,4")
        return factors

    parser.add_argument("--artifacts", type=path, required=True, help="directory of artifact folders")
    parser.add_argument("--runs", type=int, default=3, help="how often each scenario is run (default: %(default)s)")
    parser.add_argument(
        "--scenarios",
        type=lambda text: text.split(","),
        help="comma-separated, of: cold,no-op,small library,librocfft,big library,header,version,new server (all)",
    )
    parser.add_argument("--scale", type=scale, default=[1], help="also measure copies of the input: 1,2,4 (default: 1)")
    parser.add_argument(
        "--no-sequential", dest="sequential", action="store_false", help="leave out the flow to compare with"
    )
    parser.add_argument("--option", action="append", default=[], help="option for all builds, as --option=--config=x")
    parser.add_argument("--output", type=path, help="folder for tables, JSON and charts")
    parser.add_argument(
        "--scratch",
        type=path,
        help="folder to work in, kept for the next run, which then fetches nothing; on the file system of the "
        "artifacts, or they are copied in earnest (default: a new one in the system's, removed at the end)",
    )
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line."""
    args = parse(argv)
    if (load := os.getloadavg()[0]) > 0.5:
        progress(f"the machine is busy: load {load:.1f}. What others do is measured, too")
    if args.scratch:
        args.scratch.mkdir(parents=True, exist_ok=True)
        results = measure_all(args, args.scratch)
    else:
        scratch = Path(tempfile.mkdtemp(prefix="rocm-benchmark-"))
        try:
            results = measure_all(args, scratch)
        finally:
            remove(scratch)
    publish(*results, args.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
