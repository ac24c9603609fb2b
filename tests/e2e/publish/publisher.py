"""The command that publishes, run as people run it, and what a place has to look like after each run."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.e2e.testing.builds import WORKSPACE

#: Exit status of the publisher for a file that is published with other bytes.
CONFLICT = 1


@dataclass(frozen=True)
class Publisher:
    """The command, with the Python that has what it needs."""

    programs: Path
    dist: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """Start it."""
        command = [
            str(self.programs / "python"),
            "-B",
            "-m",
            "wheels.publish.tool",
            f"--dist={self.dist}",
            *arguments,
        ]
        path = os.pathsep.join([str(self.programs), os.environ["PATH"]])
        return subprocess.Popen(
            command,
            cwd=WORKSPACE,
            env=os.environ | {"PATH": path, "UV_NO_CONFIG": "1"} | dict(self.environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments: str, status: int = 0) -> str:
        """Run it to the end; return what it printed. Raises AssertionError if it ends otherwise than expected."""
        process = self.start(*arguments)
        output, _ = process.communicate()
        assert process.returncode == status, f"{arguments}: status {process.returncode}, expected {status}\n{output}"
        return output

    def kill_after(self, line: int, *arguments: str) -> None:
        """Run it, and kill it when it has printed so many lines."""
        process = self.start(*arguments)
        assert process.stdout
        for _ in range(line):
            assert process.stdout.readline(), "it has ended before it could be killed"
        process.kill()
        process.communicate()

    def of(self, dist: Path) -> "Publisher":
        """Return the same for another directory."""
        return replace(self, dist=dist)

    def with_environment(self, **variables: str) -> "Publisher":
        """Return the same with further variables."""
        return replace(self, environment={**self.environment, **variables})


def tree(directory: Path) -> dict[str, bytes]:
    """Return all files of a directory that people see: those without a dot in front."""
    found = (path for path in sorted(directory.rglob("*")) if path.is_file() and not path.name.startswith("."))
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in found}


def changed(dist: Path, scratch: Path) -> tuple[Path, str]:
    """Return a copy of the directory in which one wheel has another byte, and the wheel's name."""
    copy = scratch / "changed"
    shutil.copytree(dist, copy)
    wheel = min(copy.glob("*.whl"))
    content = bytearray(wheel.read_bytes())
    content[-1] ^= 1
    wheel.unlink()
    wheel.write_bytes(content)
    return copy, wheel.name


def is_page(path: str) -> bool:
    """Whether a file is a page of the index."""
    return not path.endswith((".whl", ".tar.gz", ".metadata"))


def check_halfway(visible: Mapping[str, bytes], content: Mapping[str, bytes]) -> None:
    """Assert that only whole files are visible, and pages only when all that they name is."""
    assert visible, "it was killed before it had sent anything"
    assert len(visible) < len(content), "it was killed too late"
    assert visible.items() <= content.items(), "a file was visible before it was whole"
    if any(is_page(path) for path in visible):
        assert {path for path in content if not is_page(path)} <= set(visible), "a page was visible before its files"


def check_conflict(publisher: Publisher, scratch: Path, *arguments: str) -> None:
    """Assert that another byte in a published wheel is an error which names it, both digests and the remedy."""
    copy, name = changed(publisher.dist, scratch)
    for options in (arguments, (*arguments, "--dry-run")):
        output = publisher.of(copy).run(*options, status=CONFLICT)
        for text in (f"\n  {name}\n", "published:  sha256 ", "this build: sha256 ", "Build another version"):
            assert text in output, f"{text!r} is missing in:\n{output}"
        assert "sent " not in output, "something was sent all the same"
    shutil.rmtree(copy)
