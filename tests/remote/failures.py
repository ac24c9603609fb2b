"""Builds on a remote execution service that fails: never a wrong wheel, never an endless wait.

While packages are packed a worker is killed, the server is killed, or killed and started again. Each build gives the
bytes that one here gives, or says what is wrong; the next one gives them in any case. A service that keeps its blobs on
disk does not look at them again, so Bazel has to, of what it downloads, and a worker, of the inputs of its actions.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.remote.buildgrid import BuildGrid
from tests.remote.checkouts import PATIENCE, Checkout, Outcome
from tests.remote.spawns import count_by
from tests.remote.worker import wait_for_actions

#: How many actions, packs all, have begun when something fails.
MIDDLE = 5
#: A damaged blob does not mend by itself, nor does a server come back that was ended for good: gives up soon.
FEW_RETRIES = "--remote_retries=2"


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


def damaged(content: bytes) -> dict[str, bytes]:
    """Return a blob with each kind of damage."""
    middle = len(content) // 2
    return {
        "a flipped bit": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "cut off": content[:middle],
    }


def largest(outcome: Outcome, mnemonic: str) -> str:
    """Return the SHA-256 of the biggest output of the actions of a mnemonic."""
    outputs = [output for spawn in outcome.spawns if spawn.mnemonic == mnemonic for output in spawn.outputs.values()]
    return max(outputs, key=lambda output: output[1])[0]


def check_right_or_said(case: str, outcome: Outcome, whole: Outcome, blob: str) -> None:
    """Assert that a build gave the right bytes, or an error that names the blob, and no wrong distribution."""
    output = outcome.build.output
    assert "build interrupted" not in output, f"{case}: Bazel waited and waited\n{output}"
    for name, sha256 in outcome.distributions.items():
        assert whole.distributions[name] == sha256, f"{case}: {name}"
    if outcome.build.succeeded:
        assert outcome.distributions == whole.distributions, case
        print(f"{case}: {outcome.build.seconds:.1f} s, same bytes", flush=True)
    else:
        said = [line for line in output.splitlines() if blob in line]
        assert said, output
        print(f"{case}: {outcome.build.seconds:.1f} s, and it says why: ... {said[0][-300:]}", flush=True)


def damage(service: BuildGrid, checkout: Checkout, whole: Outcome) -> None:
    """Damage the biggest wheel, which Bazel fetches, and the biggest segment, which a worker fetches to link it.

    `whole` is a build of which the service has everything.
    """
    for sha256, linked in ((largest(whole, "RocmLink"), False), (largest(whole, "RocmPack"), True)):
        path = service.blob(sha256)
        content = path.read_bytes()
        for kind, bad in damaged(content).items():
            case = f"{kind} in a {'segment' if linked else 'wheel'} of {len(content)} bytes"
            if linked:
                forget_wheels(service, whole)
            replace(path, bad)
            checkout.clean()
            check_right_or_said(case, checkout.build(FEW_RETRIES), whole, sha256)
            # What is missing is made again; what is there is believed to be right.
            path.unlink()
            checkout.clean()
            check_right_or_said(f"{case}, removed", checkout.build().succeeded(), whole, sha256)


def forget_wheels(service: BuildGrid, whole: Outcome) -> None:
    """Remove all distributions from the store, and what workers have of it: they are linked anew, from segments."""
    for spawn in whole.spawns:
        for sha256, _ in spawn.outputs.values() if spawn.mnemonic == "RocmLink" else ():
            service.blob(sha256).unlink(missing_ok=True)
    service.empty_workers()


def replace(path: Path, content: bytes) -> None:
    """Put other content instead of a blob; a new file, as whoever reads the old one shall not see both."""
    new = path.with_suffix(".new")
    new.write_bytes(content)
    new.rename(path)
