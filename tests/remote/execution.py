"""The build and the tests on a remote execution service: the same bytes as here.

    python3 -m tests.remote.execution --root ROOT --programs FOLDER [--artifacts DIR] [--all-tests]

Run it from the top of the workspace, as root. ROOT is what engine_root.sh makes; FOLDER gets a virtual environment with
BuildGrid. One checkout builds here, and then there, and tests there, on two workers. Nothing runs here instead of on a
worker (`--remote_local_fallback=false`).
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tests.remote.buildgrid import PLATFORM, BuildGrid, make_programs
from tests.remote.checkouts import PATIENCE, Checkout, Outcome, check_out
from tests.remote.spawns import count_by

#: The tests of the project.
ALL = ("//packaging/...", "//develop/...", "//lib/...", "//tests/...", "//tools/...", "//wheels/...")
#: One or two of each kind: the build there has made most of what they look at.
SOME = (
    "//tests/analysis:wheel",
    "//tests/golden/...",
    "//tests/integration:framework_test",
    "//tests/integration:mini_test",
    "//wheels/tests:targets_test",
    "//tools/actions:link_tests",
)
#: Lint reads the whole workspace, which is no input of it.
HERE = {"//tests/lint:lint_test"}


def remote_options(service: BuildGrid) -> tuple[str, ...]:
    """Return what the user's rc would say."""
    properties = tuple(f"--remote_default_exec_properties={key}={value}" for key, value in PLATFORM.items())
    return ("--config=remote", f"--remote_executor={service.url}", "--jobs=16", *properties)


def check_same(here: Outcome, there: Outcome) -> None:
    """Assert that everything ran remotely and gave the same bytes."""
    there.succeeded()
    runners = {spawn.runner for spawn in there.spawns}
    assert runners <= {"remote", "remote cache hit"}, count_by(there.spawns)
    assert there.distributions == here.distributions
    executed = sum(1 for spawn in there.spawns if spawn.runner == "remote")
    print(f"{there.build.seconds:.1f} s, {executed} actions executed, same bytes", flush=True)


def run_tests(checkout: Checkout, targets: tuple[str, ...]) -> None:
    """Run ALL or SOME, which has some of each kind: analysis, unit tests, what was built looked at, installed and used.

    Raises AssertionError unless all pass, and none runs here but those that have to.
    """
    outcome = checkout.build("--keep_going", targets=targets, command="test").succeeded()
    tests = [spawn for spawn in outcome.spawns if spawn.mnemonic == "TestRunner"]
    here = {spawn.label for spawn in outcome.spawns if spawn.runner not in ("remote", "remote cache hit")}
    assert here == (HERE if targets == ALL else set()), here
    [summary] = re.findall(r"^Executed .* tests?: .*$", outcome.build.output, re.MULTILINE)
    remote = {spawn.label for spawn in tests} - HERE
    print(f"{summary} {len(remote)} of them by workers, in {outcome.build.seconds:.1f} s", flush=True)


def run(args: argparse.Namespace, folder: Path) -> None:
    """Build here, and then there."""
    checkout = check_out(folder / "checkout", args.artifacts, seconds=PATIENCE)
    try:
        here = checkout.build().succeeded()
        with BuildGrid(args.root, make_programs(args.programs), folder / "service") as service:
            there = replace(checkout, workspace=replace(checkout.workspace, options=remote_options(service)))
            service.add_worker()
            service.add_worker()
            there.clean()
            check_same(here, there.build())
            run_tests(there, ALL if args.all_tests else SOME)
    finally:
        checkout.remove()


def command_line(description: str | None) -> argparse.ArgumentParser:
    """Describe the arguments of what needs a service."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True, help="root file system with the engines (engine_root.sh)")
    parser.add_argument("--programs", type=Path, required=True, help="folder for a virtual environment with BuildGrid")
    parser.add_argument("--artifacts", type=Path, help="artifacts directory; without it, the embedded SDK")
    return parser


def in_scratch(run: Callable[[argparse.Namespace, Path], None], args: argparse.Namespace) -> int:
    """Run something with a folder for all that it makes; returns the exit code."""
    with tempfile.TemporaryDirectory(prefix="rocm-remote-") as folder:
        Path(folder).chmod(0o755)  # PostgreSQL runs as another user
        run(args, Path(folder))
    return 0


def main() -> int:
    """Parse the arguments and run."""
    parser = command_line(__doc__)
    parser.add_argument(
        "--all-tests", action="store_true", help="run all tests there, which takes a quarter of an hour"
    )
    return in_scratch(run, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
