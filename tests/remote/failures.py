"""Builds on a remote execution service that fails: never a wrong wheel, never an endless wait.

While packages are packed a worker is killed, the server is killed, or killed and started again. Each build gives the
bytes that one here gives, or says what is wrong; the next one gives them in any case.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from tests.remote.buildgrid import BuildGrid
from tests.remote.checkouts import PATIENCE, Checkout, Outcome
from tests.remote.damage import FEW_RETRIES
from tests.remote.spawns import count_by
from tests.remote.worker import wait_for_actions

#: How many actions, packs all, have begun when something fails.
MIDDLE = 5


def compression(kind: str) -> str:
    """Return the option that has all packed, and linked, as in no build with another kind."""
    return f"--//rules/settings:compression={kind}"


def check(case: str, here: Outcome, there: Outcome) -> None:
    """Assert that everything ran remotely and gave the same bytes."""
    there.succeeded()
    runners = {spawn.runner for spawn in there.spawns}
    assert runners <= {"remote", "remote cache hit"}, count_by(there.spawns)
    assert there.distributions == here.distributions, case
    executed = sum(1 for spawn in there.spawns if spawn.runner == "remote")
    print(f"{case}: {there.build.seconds:.1f} s, {executed} actions executed, same bytes", flush=True)


@dataclass(frozen=True)
class Case:
    """A build in whose middle something happens."""

    name: str
    checkout: Checkout
    service: BuildGrid
    happens: Callable[[], object]

    def build(self, *options: str) -> Outcome:
        """Build all that is not in the service's cache; in the middle of it, let it happen."""
        self.checkout.clean()
        errors: list[BaseException] = []

        def disturb() -> None:
            try:
                wait_for_actions(self.service.workers, MIDDLE, PATIENCE)
                self.happens()
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=disturb)
        thread.start()
        outcome = self.checkout.build(*options)
        thread.join()
        assert not errors, (self.name, errors, outcome.build.output)
        return outcome


def check_failed(case: str, outcome: Outcome, here: Outcome, *messages: str) -> None:
    """Assert that a build failed for the reason that it gives, and left no wrong distribution behind."""
    output = outcome.build.output
    assert not outcome.build.succeeded, case
    assert "build interrupted" not in output, f"{case}: Bazel waited for more than {PATIENCE} s\n{output}"
    errors = [line for line in output.splitlines() if line.startswith("ERROR: ")]
    assert any(message in line for message in messages for line in errors), output
    wrong = {name for name, sha256 in outcome.distributions.items() if here.distributions[name] != sha256}
    assert not wrong, wrong
    print(f"{case}: {outcome.build.seconds:.1f} s, and it says why: {errors[0][:300]}", flush=True)


def disturb(service: BuildGrid, checkout: Checkout, fast: Outcome, small: Outcome) -> None:
    """Kill a worker, the server for good, the server for a moment."""
    name = "a worker is killed"
    killed = Case(name, checkout, service, lambda: wait_for_actions(service.workers[:1], 1, PATIENCE).kill())
    check(name, fast, killed.build(compression("fast")))
    service.workers[0].start()

    name = "the server is gone"
    gone = Case(name, checkout, service, service.server.kill).build(compression("small"), FEW_RETRIES)
    check_failed(name, gone, small, "UNAVAILABLE")
    service.server.start()

    name = "the server is restarted"
    check(name, small, Case(name, checkout, service, service.restart).build(compression("small")))
