"""The packages of real ROCm are as they should be.

    python3 -m tests.e2e.verify.real --dist DIR [--config FILE]

Run it from the top of the workspace. `rocm-wheels verify`, as people install it, reads the directory with ROCm's
settings; each finding is declared in real.toml, and in what `--config` names, with its reason.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

from tests.e2e.testing.builds import WORKSPACE
from tests.e2e.testing.wheels_command import installed

CONFIGS = (WORKSPACE / "packaging/verify.toml", Path(__file__).resolve().with_suffix(".toml"))


def main() -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, required=True, help="directory of the distributions")
    parser.add_argument("--config", type=Path, action="append", default=[], help="more exceptions, of this input")
    arguments = parser.parse_args()
    configs = [f"--config={path.absolute()}" for path in (*CONFIGS, *arguments.config)]
    with tempfile.TemporaryDirectory(prefix="rocm-wheels-") as folder:
        command = [installed(Path(folder, "env")), "verify", *configs, "--all", arguments.dist.absolute()]
        return subprocess.run(command, cwd=WORKSPACE, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
