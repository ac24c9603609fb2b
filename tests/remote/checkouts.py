"""Checkouts of the workspace that share nothing, and what they built."""

import hashlib
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.testing.builds import Build, Workspace, built, copy_workspace
from tests.remote.spawns import Spawn, read_spawns

DISTRIBUTIONS = ("*.whl", "*.tar.gz")
TARGET = "//packaging:all_wheels"
#: Seconds after which a call of Bazel has hung: ten times what the slowest takes.
PATIENCE = 1200


@dataclass(frozen=True)
class Checkout:
    """A copy of the workspace in a directory of its own, with an output base of its own."""

    workspace: Workspace
    output_base: Path
    log: Path

    def build(self, *options: str, targets: tuple[str, ...] = (TARGET,), command: str = "build") -> "Outcome":
        """Build, or test; a failure is an outcome, too."""
        self.log.unlink(missing_ok=True)
        options = (f"--execution_log_json_file={self.log}", "--symlink_prefix=/", *options)
        build = self.workspace.build(*targets, options=options, command=command)
        return Outcome(build, read_spawns(self.log) if self.log.exists() else [], self.distributions())

    def fetch(self) -> None:
        """Fetch all repositories that the build needs. The server stays, but has analysed nothing."""
        artifacts = (f"--repo_env=ROCM_ARTIFACTS_DIR={self.workspace.artifacts}",) if self.workspace.artifacts else ()
        result = self.workspace.run("fetch", *artifacts, TARGET)
        assert result.returncode == 0, result.stdout

    def outputs(self, *patterns: str) -> list[Path]:
        """List the files that lie in the output tree of the packages, sorted."""
        folder = self.output_base / "execroot/_main/bazel-out/k8-fastbuild/bin/packaging"
        return sorted(path for pattern in patterns for path in folder.rglob(pattern))

    def distributions(self) -> dict[str, str]:
        """Map the name of each distribution that is there to its SHA-256."""
        return {path.name: digest(path) for path in self.outputs(*DISTRIBUTIONS)}

    def clean(self) -> None:
        """Forget what was built, but not what was fetched."""
        self.workspace.run("clean", "--symlink_prefix=/")

    def remove(self) -> None:
        """End the server and remove everything."""
        self.workspace.run("shutdown")
        subprocess.run(["chmod", "-R", "u+w", self.output_base], check=False)
        shutil.rmtree(self.output_base, ignore_errors=True)
        shutil.rmtree(self.workspace.directory, ignore_errors=True)


@dataclass(frozen=True)
class Outcome:
    """A build, what it ran, and the distributions that lay there after it."""

    build: Build
    spawns: list[Spawn]
    distributions: dict[str, str]

    def succeeded(self) -> "Outcome":
        """Return itself if the build did. Raises AssertionError with all that it printed."""
        built(self.build)
        return self


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_out(
    directory: Path, artifacts: Path | None, options: tuple[str, ...] = (), seconds: int | None = None
) -> Checkout:
    """Copy what git has or would have of the workspace; calls of Bazel that take longer than `seconds` are ended."""
    target = directory / "main"
    copy_workspace(target)
    base = directory / "output_base"
    # Every cache and executor knows SHA-256.
    startup = (f"--output_base={base}", "--max_idle_secs=600", "--digest_function=SHA256")
    wrapper = ("timeout", "--signal=INT", "--kill-after=60", str(seconds)) if seconds else ()
    workspace = Workspace(target, artifacts=artifacts, startup=startup, options=options, wrapper=wrapper)
    return Checkout(workspace, base, directory / "spawns.json")
