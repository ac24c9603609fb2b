"""The tests of the project, run by the workers of a remote execution service.

    python3 -m tests.remote.remote_tests --root ROOT --programs FOLDER [--all]

Run it from the top of the workspace, as root; the arguments are those of tests.remote.execution. Without `--all`, runs
a part that has some of each kind: analysis, unit tests, what was built looked at, installed and used. Asserts that all
pass, and that none ran here but those that have to.
"""

import argparse
import re
import sys
from pathlib import Path

from tests.remote.buildgrid import BuildGrid, make_programs
from tests.remote.checkouts import check_out
from tests.remote.execution import PATIENCE, command_line, in_scratch, remote_options

ALL = ("//packaging/...", "//develop/...", "//tests/...", "//tools/...", "//verify/...")
SOME = (
    "//packaging/init_py/...",
    "//tests/analysis/...",
    "//tests/golden/...",
    "//tests/integration:framework_test",
    "//tests/integration:mini_test",
    "//tests/verify:family_test",
    "//tests/verify:targets_test",
    "//tests/wheel_test/...",
    "//tools/actions/link/...",
    "//tools/actions/pack/...",
    "//tools/actions/plan/...",
)
#: Lint reads the whole workspace, which is no input of it.
HERE = {"//tests/lint:lint_test"}


def run(args: argparse.Namespace, folder: Path) -> None:
    """Run the tests on two workers."""
    with BuildGrid(args.root, make_programs(args.programs), folder / "service") as service:
        options = (*remote_options(service), "--keep_going")
        checkout = check_out(folder / "remote", args.artifacts, options, PATIENCE * (2 if args.all else 1))
        try:
            for _ in range(2):
                service.add_worker()
            outcome = checkout.build(targets=ALL if args.all else SOME, command="test").succeeded()
        finally:
            checkout.remove()
    tests = [spawn for spawn in outcome.spawns if spawn.mnemonic == "TestRunner"]
    here = {spawn.label for spawn in outcome.spawns if spawn.runner not in ("remote", "remote cache hit")}
    assert here == (HERE if args.all else set()), here
    [summary] = re.findall(r"^Executed .* tests?: .*$", outcome.build.output, re.MULTILINE)
    remote = {spawn.label for spawn in tests} - HERE
    print(f"{summary} {len(remote)} of them by workers, in {outcome.build.seconds:.1f} s", flush=True)


def main() -> int:
    """Parse the arguments and run."""
    parser = command_line(__doc__)
    parser.add_argument("--all", action="store_true", help="run all tests, which takes a quarter of an hour")
    return in_scratch(run, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
