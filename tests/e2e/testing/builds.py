"""Real builds, and which actions they ran: for tests and measurements that call bazelw themselves.

    workspace = Workspace(directory, artifacts=Path("/path/to/artifacts"))
    build = workspace.build("//packaging:all_wheels")
    build.ran("RocmPack")

What ran is read from Bazel's build event stream, in which every executed action is one event and actions that a
cache answered are none.
"""

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

#: The workspace that this file is part of.
WORKSPACE = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Action:
    """One action that Bazel executed."""

    mnemonic: str
    #: The target that declared it.
    label: str
    #: Its first output, relative to the execution root.
    output: str


@dataclass(frozen=True)
class Build:
    """How a build went."""

    succeeded: bool
    #: All that was printed.
    output: str
    #: From the call to the end, by the wall clock.
    seconds: float
    actions: tuple[Action, ...]

    def ran(self, mnemonic: str) -> list[Action]:
        """List the actions of a mnemonic that were executed, sorted by output."""
        return sorted((one for one in self.actions if one.mnemonic == mnemonic), key=lambda one: one.output)


def read_events(path: Path) -> tuple[Action, ...]:
    """Read a build event stream, one JSON object a line: the actions that it executed."""
    actions = []
    for line in path.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if identity := event["id"].get("actionCompleted"):
            actions.append(Action(event["action"]["type"], identity.get("label", ""), identity["primaryOutput"]))
    return tuple(actions)


@dataclass(frozen=True)
class Workspace:
    """A workspace with its bazelw, and how to call that."""

    directory: Path = WORKSPACE
    #: The artifacts directory, the embedded SDK if None.
    artifacts: Path | None = None
    #: Startup options of Bazel.
    startup: tuple[str, ...] = ()
    #: What stands before ./bazelw: a program that changes the conditions under which it runs.
    wrapper: tuple[str, ...] = ()
    #: Variables to set for bazelw.
    environment: Mapping[str, str] = field(default_factory=dict)
    #: Options of every build.
    options: tuple[str, ...] = ()

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Call bazelw; the result has all that was printed, and its exit code is not looked at."""
        return subprocess.run(
            [*self.wrapper, "./bazelw", *self.startup, *arguments],
            cwd=self.directory,
            env=os.environ | self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def info(self, key: str) -> str:
        """Ask Bazel for one of its facts (`bazel help info-keys`); starts the server if none runs."""
        result = self.run("info", key, "--ui_event_filters=-info")
        if result.returncode:
            raise RuntimeError(f"bazelw info {key}: exit code {result.returncode}\n{result.stdout}")
        return result.stdout.splitlines()[-1]

    def build(self, *targets: str, options: tuple[str, ...] = (), command: str = "build") -> Build:
        """Build targets, or test them. A build that fails is a result, too: see `succeeded`."""
        with tempfile.TemporaryDirectory(prefix="rocm-events-") as folder:
            Path(folder).chmod(0o777)  # whoever the wrapper makes of us writes there
            events = Path(folder, "events.json")
            watch = (f"--build_event_json_file={events}", "--build_event_publish_all_actions")
            artifacts = (f"--repo_env=ROCM_ARTIFACTS_DIR={self.artifacts}",) if self.artifacts else ()
            started = time.monotonic()
            options = ("--color=no", "--curses=no", *watch, *artifacts, *self.options, *options)
            result = self.run(command, *options, *targets)
            seconds = time.monotonic() - started
            actions = read_events(events) if events.exists() else ()
        return Build(result.returncode == 0, result.stdout, seconds, actions)


def copy_workspace(target: Path) -> None:
    """Copy what git has or would have of the workspace."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=WORKSPACE, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (WORKSPACE / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(WORKSPACE / name, target / name)


def copy_out(project: Path, target: Path, output_base: Path) -> Workspace:
    """Copy a project out of this workspace, as its users have it: it takes the rules, and `bazelw`, from here."""
    shutil.copytree(project, target)
    module = target / "MODULE.bazel"
    rules = f'path = "{os.path.relpath(WORKSPACE, project)}"'
    module.write_text(module.read_text().replace(rules, f'path = "{WORKSPACE}"'))
    (target / "bazelw").write_text(f'#!/bin/sh\nexec {WORKSPACE}/bazelw "$@"\n')
    (target / "bazelw").chmod(0o755)
    return Workspace(target, startup=(f"--output_base={output_base}",))


def remove_output_base(output_base: Path) -> None:
    """Remove what Bazel keeps for a workspace, when its server is shut down: it has directories without `w`."""
    subprocess.run(["chmod", "-R", "u+w", output_base], check=False)
    shutil.rmtree(output_base, ignore_errors=True)


def built(build: Build) -> Build:
    """Return the build if it succeeded. Raises AssertionError with all that it printed, the errors first."""
    if not build.succeeded:
        errors = [line for line in build.output.splitlines() if line.startswith(("ERROR", "FATAL"))]
        raise AssertionError("\n".join([*errors, build.output]))
    return build
