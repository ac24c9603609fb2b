"""The command that was installed works without anything beside it, and says what is wrong."""

import subprocess
import sys
import tempfile
from pathlib import Path


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the command; its exit code is not looked at."""
    return subprocess.run(["rocm-verify", *arguments], capture_output=True, text=True, check=False)


rules = run("rules")
assert rules.returncode == 0, rules.stderr
assert "W404 error: an executable stack" in rules.stdout
with tempfile.TemporaryDirectory() as folder:
    broken = Path(folder, "sample-1.0-py3-none-any.whl")
    broken.write_bytes(b"nothing")
    found = run(str(broken))
    assert found.returncode == 1, found.stderr
    assert "W101 error" in found.stdout
    assert run(str(Path(folder, "none.whl"))).returncode == 2
sys.stdout.write(found.stdout)
