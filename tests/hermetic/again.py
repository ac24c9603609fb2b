"""Runs a recorded action again in a jail, and says what shows that it is not hermetic.

    faults(action, jail, scratch)      # [] if it made what Bazel made of it, from what it declares, and nothing else

Inputs are real files that cannot be written, at the paths that they have in Bazel's execution root. Their dates and
modes are others.
"""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from tests.hermetic.jail import Jail, failed_itself
from tests.reproducible.recorded import Place, Recorded, contents

#: What the build was told, if so, as .bazelrc passes it on to actions.
PASSED_ON = ("SOURCE_DATE_EPOCH",)


@dataclass(frozen=True)
class Faults:
    """How an action ran in the jail."""

    #: What is wrong, one line each, except what a failing action printed.
    found: list[str]
    #: Whether the action itself said that it failed.
    stopped: bool = False

    def __str__(self) -> str:
        return "\n".join(self.found)


def snapshot(directory: Path) -> dict[str, str]:
    """Map each file and link below a directory to a digest of its bytes, or to the link's text."""
    found = {}
    for path in sorted(directory.rglob("*")):
        if path.is_symlink():
            found[str(path.relative_to(directory))] = f"link to {path.readlink()}"
        elif path.is_file():
            found[str(path.relative_to(directory))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def stage(action: Recorded, execroot: Path, without: Place | None) -> None:
    """Copy the inputs of an action except one, and make the folders of its outputs."""
    execroot.mkdir(parents=True)
    for number, place in enumerate(action.files):
        if place != without:
            for target in place.copied_to(execroot):
                target.chmod((0o444, 0o555)[number % 2])
                os.utime(target, (number, 86400 * number))
    for place in action.outputs:
        (execroot / place.execroot).parent.mkdir(parents=True, exist_ok=True)


def is_declared(action: Recorded, path: str) -> bool:
    """Tell whether a file is one of an action's outputs, or lies in one."""
    return any(Path(path).is_relative_to(place.execroot) for place in action.outputs)


def undeclared_writes(action: Recorded, before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Say what an action did to files that are not its outputs."""
    others = [path for path in sorted({*before, *after}) if not is_declared(action, path)]
    inputs = [path for path in others if path in before]
    return [
        *(f"wrote {path}, which it does not declare" for path in others if path not in before),
        *(f"removed its input {path}" for path in inputs if path not in after),
        *(f"changed its input {path}" for path in inputs if path in after and after[path] != before[path]),
    ]


def missing_outputs(action: Recorded, execroot: Path) -> list[str]:
    """Say which outputs are not there."""
    places = [place.execroot for place in action.outputs]
    return [f"did not write {place}" for place in places if not (execroot / place).exists()]


def other_outputs(action: Recorded, execroot: Path) -> list[str]:
    """Say which outputs are not those that Bazel has."""
    found = []
    for place in action.outputs:
        ours, bazels = contents(execroot / place.execroot), contents(place.runfiles)
        different = [name for name in sorted({*ours, *bazels}) if ours.get(name) != bazels.get(name)]
        found += [f"other bytes than Bazel has: {os.path.normpath(f'{place.execroot}/{name}')}" for name in different]
    return found


def faults(
    action: Recorded, jail: Jail, scratch: Path, *, without: Place | None = None, compare: bool = True, **variables: str
) -> Faults:
    """Run an action, of whose inputs one may be taken away, and compare with Bazel's outputs, if there are.

    `variables` are as `--action_env` sets them.

    Raises RuntimeError where the jail fails.
    """
    execroot = scratch / "execroot"
    stage(action, execroot, without)
    before = snapshot(execroot)
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    result = jail.run([jail.interpreter, *action.argv[1:]], execroot, passed_on | variables | action.environment)
    if failed_itself(result):
        raise RuntimeError(result.stderr)
    found = undeclared_writes(action, before, snapshot(execroot))
    if result.returncode:
        printed = (result.stdout + result.stderr).strip()
        return Faults([f"exit code {result.returncode}: {printed}", *found], stopped=True)
    found += missing_outputs(action, execroot)
    return Faults(found + other_outputs(action, execroot) if compare else found)
