"""Runs commands for checks."""

import subprocess
import tempfile


def attempt(*command: object, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a command with little of the environment; its exit code is not looked at."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": tempfile.gettempdir(), **variables}
    return subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True, check=False)


def run(*command: object, **variables: str) -> str:
    """Run a command and return what it prints. Raises AssertionError with all that it said if it fails."""
    result = attempt(*command, **variables)
    assert not result.returncode, f"{command}: exit code {result.returncode}\n{result.stdout}{result.stderr}"
    return result.stdout
