r"""Measures what packaging costs: from nothing, and after each kind of change; beside AMD's script, if it is given.

    bazel run //tests/benchmark:packages -- --artifacts DIR [--variant fast=--//rules/settings:compression=fast]

Builds //packaging:all_wheels of a copy of the artifacts (links to the same files; nothing in DIR is changed) in an
output base of its own, without a disk cache. Each round makes a build from nothing for each variant, then one change
after the other with a build after each. The table has medians over all rounds:

  wall        seconds from calling bazelw to its end;
  CPU         user and system time of all processes that Bazel started: of the actions, not of Bazel;
  memory      the largest resident memory of any such process;
  written     bytes that Bazel and these processes gave to a file system on a disk;
  produced    size of the distributions that this build made anew.

"Cold" is after `clean`, by a server that has built nothing but the tools (for the embedded SDK) and knows nothing of
the input: the clock runs through the catalog's scan and Bazel's hashing of the input. The input itself is in the page
cache, if memory suffices: it is read before, for AMD's script, too. Files that are changed are on the disk before the
clock starts.

With --therock, AMD's own script makes its packages of the same artifacts at the end of each round; amd.py says what it
needs: on the machine, a C compiler and libmagic, which `bazel run` may not see. Without Bazel around it, from the top
of the workspace:

    python3 -m tests.benchmark.packages --artifacts DIR --scenarios cold --therock THEROCK \
        --therock-python VENV/bin/python

It takes space: twice the size of the distributions, and the size of the changed files.
"""

import argparse
import itertools
import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.benchmark import amd, report
from tests.benchmark.artifacts import copy_artifacts, read_all
from tests.benchmark.cost import Cost
from tests.benchmark.scenarios import NAMES, measure, scenarios
from tests.e2e.testing.builds import WORKSPACE, Workspace, built

TARGETS = ("//packaging:all_wheels",)
#: Options of a build, by the name of the variant.
Variants = Mapping[str, tuple[str, ...]]


@contextmanager
def scratch_workspace(folder: Path, artifacts: Path) -> Iterator[Workspace]:
    """Yield this workspace with an output base in a folder, which is removed with its server at the end."""
    workspace = Workspace(
        Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", WORKSPACE)),
        copy_artifacts(artifacts, folder / "artifacts"),
        environment={"PATH": os.environ["PATH"]},
        startup=(f"--output_base={folder / 'output_base'}", "--max_idle_secs=600"),
        options=("--symlink_prefix=/", "--disk_cache="),  # the workspace's own bazel-bin stays as it is
    )
    try:
        yield workspace
    finally:
        workspace.run("shutdown")
        for directory, _, _ in os.walk(folder / "output_base"):
            Path(directory).chmod(0o700)  # Bazel's are read-only
        shutil.rmtree(folder / "output_base")


def measure_all(
    workspace: Workspace, variants: Variants, args: argparse.Namespace, script: amd.Script | None, scratch: Path
) -> report.Costs:
    """Run all scenarios with each variant in each round; AMD's script, if any, comes last in a round."""
    assert workspace.artifacts
    wanted = [one for one in scenarios(workspace.artifacts) if one.name in args.scenarios]
    for options in variants.values():
        built(workspace.build(*TARGETS, options=("--nobuild", *options)))  # fetches
    # Version numbers and changes must differ from all that a cache may have seen.
    numbers = itertools.count(int(time.time()))
    costs: report.Costs = {}

    def add(run: int, name: str, cost: Cost, does: str) -> None:
        costs.setdefault(name, []).append(cost)
        print(f"run {run} of {args.runs}: {name}, {does}: {cost.seconds:.1f} s", file=sys.stderr, flush=True)

    for run in range(1, args.runs + 1):
        for variant, options in variants.items():
            for scenario in wanted:
                cost = measure(workspace, scenario, TARGETS, next(numbers), options)
                add(run, " ".join(filter(None, (variant, scenario.name))), cost, scenario.description)
        if script:
            read_all(workspace.artifacts)
            add(run, amd.NAME, script.make_packages(workspace.artifacts, scratch / "amd"), "from nothing")
    return costs


def parse_variant(text: str) -> tuple[str, tuple[str, ...]]:
    """Split NAME=OPTIONS; options are quoted as for a shell. Raises ArgumentTypeError without a name."""
    name, separator, options = text.partition("=")
    if not name or not separator:
        raise argparse.ArgumentTypeError(f"expected NAME=OPTIONS, got {text!r}; for no options, NAME=")
    return name, tuple(shlex.split(options))


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line; paths are relative to where `bazel run` was typed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))

    def path(text: str) -> Path:
        return Path(where, text).resolve()

    parser.add_argument("--artifacts", type=path, required=True, help="directory of artifact folders")
    parser.add_argument(
        "--variant", type=parse_variant, action="append", metavar="NAME=OPTIONS", help="may be repeated (no options)"
    )
    parser.add_argument("--runs", type=int, default=3, help="how often each is built (default: %(default)s)")
    parser.add_argument("--scenarios", nargs="+", choices=NAMES, default=NAMES, help="what to measure (default: all)")
    parser.add_argument("--scratch", type=path, help="folder for builds, on the artifacts' disk (default: temporary)")
    parser.add_argument("--therock", type=path, help="checkout of TheRock, whose script is run as well")
    parser.add_argument(
        "--therock-python",
        type=lambda text: Path(where, text).absolute(),  # not where a link leads: that has none of the packages
        default=sys.executable,
        help="Python for that script (default: the one in use)",
    )
    return parser.parse_args(argv)


def main() -> int:
    """Run the command line."""
    args = parse()
    try:
        script = amd.Script(args.therock, Path(args.therock_python)) if args.therock else None
    except ValueError as error:
        sys.exit(f"--therock: {error}")
    if (load := os.getloadavg()[0]) > 0.5:
        print(f"the machine is busy: load {load:.1f}. Other programs are measured, too", file=sys.stderr, flush=True)
    with (
        tempfile.TemporaryDirectory(prefix="rocm-benchmark-", dir=args.scratch) as folder,
        scratch_workspace(Path(folder), args.artifacts) as workspace,
    ):
        costs = measure_all(workspace, dict(args.variant or [("", ())]), args, script, Path(folder))
    print(report.costs_table(costs, next(iter(costs))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
