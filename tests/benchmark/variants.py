r"""Measures builds from nothing with different options, alternating: what a layout or a setting costs.

    bazel run //tests/benchmark:variants -- --artifacts DIR --variant balanced= \
        --variant "fast=--//rules/settings:compression=fast"

Builds //packaging:all_wheels with the options of each variant, one after the other, as often as `--runs` says, and
prints medians; in parentheses the ratios to the first variant. Before each build everything is forgotten but the
tools, as in the scenario "cold" of //tests/benchmark:packages, which says what the columns count. A second table has
CPU time by program, as far as programs stay (persistent workers).

With --therock, AMD's own script makes its packages of the same artifacts after each round of builds; amd.py says what
it needs: on the machine, a C compiler and libmagic, which `bazel run` may not see. Without it, from the top of the
workspace, by a Python that has leather and pyelftools:

    python3 -m tests.benchmark.variants --artifacts DIR --variant split= --therock THEROCK \
        --therock-python VENV/bin/python

A variant may have other artifacts (--repo_env=ROCM_ARTIFACTS_DIR=...); AMD's script gets --artifacts. A disk cache that
user.bazelrc names is not used: Bazel would leave the tools in it when it prepares a build, and compile them again when
that build is measured.
"""

import argparse
import os
import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.benchmark import amd, report
from tests.benchmark.cost import Cost
from tests.benchmark.scenarios import cold, measure_build
from tests.benchmark.scratch import scratch_workspace
from tests.e2e.testing.builds import Workspace, built

TARGETS = ("//packaging:all_wheels",)


def parse_variant(text: str) -> tuple[str, tuple[str, ...]]:
    """Split NAME=OPTIONS; options are quoted as for a shell. Raises ArgumentTypeError without a name."""
    name, separator, options = text.partition("=")
    if not name or not separator:
        raise argparse.ArgumentTypeError(f"expected NAME=OPTIONS, got {text!r}; for no options, NAME=")
    return name, tuple(shlex.split(options))


def progress(run: int, runs: int, name: str, cost: Cost) -> None:
    """Tell how far we are."""
    print(f"run {run} of {runs}: {name}: {cost.seconds:.1f} s", file=sys.stderr, flush=True)


def measure(
    workspace: Workspace, variants: Mapping[str, tuple[str, ...]], runs: int, script: amd.Script | None, scratch: Path
) -> report.Costs:
    """Build each variant from nothing in each of so many rounds; AMD's script, if any, comes last in a round."""
    assert workspace.artifacts
    for options in variants.values():
        built(workspace.build(*TARGETS, options=("--nobuild", *options)))  # fetches
    costs: report.Costs = {name: [] for name in variants}
    for run in range(1, runs + 1):
        for name, options in variants.items():
            cold(workspace)
            os.sync()  # What the build before has written is not this one's to wait for.
            cost = measure_build(workspace, TARGETS, options)
            costs[name].append(cost)
            progress(run, runs, name, cost)
        if script:
            cost = script.make_packages(workspace.artifacts, scratch / "amd")
            costs.setdefault(amd.NAME, []).append(cost)
            progress(run, runs, amd.NAME, cost)
    return costs


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line; paths are relative to where `bazel run` was typed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))

    def path(text: str) -> Path:
        return Path(where, text).resolve()

    parser.add_argument("--artifacts", type=path, required=True, help="artifacts directory")
    parser.add_argument(
        "--variant", type=parse_variant, action="append", required=True, metavar="NAME=OPTIONS", help="may be repeated"
    )
    parser.add_argument("--runs", type=int, default=3, help="how often each is built (default: %(default)s)")
    parser.add_argument("--scratch", type=path, help="folder for builds (default: a temporary one)")
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
    with tempfile.TemporaryDirectory(prefix="rocm-variants-", dir=args.scratch) as folder:
        variants = dict(args.variant)
        with scratch_workspace(Path(folder), args.artifacts) as workspace:
            costs = measure(workspace, variants, args.runs, script, Path(folder))
    print(report.costs_table(costs, next(iter(variants))))
    print(report.programs_table(costs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
