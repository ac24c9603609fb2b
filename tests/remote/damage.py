"""Damages blobs in the store of a remote execution service, and builds with them.

A service that keeps its blobs on disk does not look at them again, so those who fetch one have to: Bazel, of what it
downloads, and a worker, of the inputs of its actions.
"""

from pathlib import Path

from tests.remote.buildgrid import BuildGrid
from tests.remote.checkouts import Checkout, Outcome

#: A damaged blob does not mend by itself, nor does a server come back that was ended for good: gives up soon.
FEW_RETRIES = "--remote_retries=2"


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
