"""The tests of the project, run by the workers of a remote execution service."""

import re

from tests.remote.checkouts import Checkout

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
