"""The command `rocm-wheels` as people have it: its wheel, installed by pip into an environment of its own.

command = installed(scratch)                      # scratch/bin/rocm-wheels
"""

import subprocess
import sys
from pathlib import Path

from tests.e2e.testing.builds import Workspace, built

WHEEL = "//wheels:wheel"


def built_wheel() -> Path:
    """Build the wheel for this machine; return its file."""
    workspace = Workspace()
    built(workspace.build(WHEEL))
    (wheel,) = Path(workspace.info("bazel-bin"), "wheels").glob("rocm_wheels-*.whl")
    return wheel


def installed(folder: Path, wheel: Path | None = None, python: str | Path = sys.executable) -> Path:
    """Make an environment in `folder`, install the wheel with what it requires, and return the command."""
    subprocess.run([python, "-m", "venv", folder], check=True)
    pip: list[str | Path] = [folder / "bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", wheel or built_wheel()], check=True)
    subprocess.run([*pip, "check"], check=True)
    return folder / "bin/rocm-wheels"
