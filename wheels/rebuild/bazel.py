"""Builds a distribution again with Bazel, in a clone of its workspace: nothing else of `wheels/` runs Bazel."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from lib.common.command import CannotRunError
from lib.provenance.statement import COMMIT, Statement
from lib.provenance.statement import SUFFIX as STATEMENT_SUFFIX

_EPOCH: Final = "SOURCE_DATE_EPOCH"
#: The descriptor: standard output is for the result.
_STDERR: Final = 2


@dataclass(frozen=True)
class Clone:
    """A workspace that distributions are built in."""

    directory: Path
    artifacts: Path | None = None
    """Directory of artifacts; None for the workspace's own."""
    options: tuple[str, ...] = ()
    """Further options of Bazel."""

    @property
    def bazel(self) -> str:
        """The command that starts Bazel: the clone's `bazelw`, if it has one."""
        wrapper = self.directory.absolute() / "bazelw"
        return str(wrapper) if wrapper.exists() else "bazel"

    def command(self, statement: Statement, events: str) -> list[str]:
        """Return the command that builds what a statement is of; Bazel writes what it has built to `events`."""
        variables = {name: value for name, value in statement.environment.items() if name != _EPOCH}
        if self.artifacts:
            if not statement.artifacts_variable:
                raise CannotRunError("--artifacts: the statement names no variable for it. Name options behind `--`")
            variables[statement.artifacts_variable] = str(self.artifacts.absolute())
        epoch = statement.environment.get(_EPOCH)
        return [
            self.bazel,
            "build",
            f"--build_event_json_file={events}",
            f"--output_groups={statement.filename}",
            *(f"--repo_env={name}={value}" for name, value in sorted(variables.items())),
            *([f"--action_env={_EPOCH}={epoch}"] if epoch else []),
            *(f"--{label}={value}" for label, value in sorted(statement.settings.items())),
            *self.options,
            statement.provenance,
        ]

    def build(self, statement: Statement) -> tuple[Path, Path]:
        """Build a distribution and its statement; return where they are. Raises CannotRunError if that fails."""
        with tempfile.TemporaryDirectory(prefix="rocm-wheels-") as scratch:
            events = Path(scratch, "events.json")
            command = self.command(statement, str(events))
            environment = {name: value for name, value in os.environ.items() if name != _EPOCH}
            try:
                done = subprocess.run(command, cwd=self.directory, env=environment, stdout=_STDERR, check=False)
            except OSError as error:
                raise CannotRunError(f"{error.filename}: {error.strerror}; expected Bazel and a clone") from None
            if done.returncode:
                raise CannotRunError(f"{self.directory}: Bazel ended with {done.returncode}: see its errors above")
            files = {path.name: path for path in _outputs(events.read_text(encoding="utf-8").splitlines())}
        names = statement.filename, statement.filename + STATEMENT_SUFFIX
        if missing := [name for name in names if name not in files]:
            where = f"{self.directory}: {statement.provenance}"
            raise CannotRunError(f"{where} does not write {missing[0]}. Check out the commit of the statement")
        return files[names[0]], files[names[1]]

    def other_commit(self, statement: Statement) -> str:
        """Return what to do if the clone is not at the commit of a statement, else nothing."""
        wanted = next((one.digest[COMMIT] for one in statement.materials if COMMIT in one.digest), "")
        ask = ["git", "-C", str(self.directory), "rev-parse", "HEAD"]
        try:
            found = subprocess.run(ask, capture_output=True, text=True, check=False).stdout.strip()
        except OSError:
            found = ""
        if not wanted or not found or wanted == found:
            return ""
        return (
            f"{self.directory}: is at the commit {found}; expected {wanted}: git -C {self.directory} checkout {wanted}"
        )


def _outputs(events: Sequence[str]) -> Iterator[Path]:
    """Yield the files that Bazel says it has built (Build Event Protocol)."""
    for event in map(json.loads, events):
        for file in event.get("namedSetOfFiles", {}).get("files", ()):
            url = urlsplit(file.get("uri", ""))
            if url.scheme == "file":
                yield Path(unquote(url.path))
