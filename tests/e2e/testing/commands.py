"""Runs commands for checks, and ends the program with all that they said where they fail."""

import subprocess
import sys
import tempfile


def attempt(*command: object, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a command with little of the environment; its exit code is not looked at."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": tempfile.gettempdir(), **variables}
    return subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True, check=False)


def run(*command: object, **variables: str) -> str:
    """Run a command and return what it prints; its failure ends the program."""
    result = attempt(*command, **variables)
    if result.returncode:
        sys.exit(f"{command}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout
