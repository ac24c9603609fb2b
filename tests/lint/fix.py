"""Formats every source of the workspace: `bazel run //tests/lint:fix`."""

import os
import subprocess

from lib.common.wheel_scripts import put_on_path
from tests.lint.workspace import BUILDIFIER, sources


def main() -> int:
    """Run the formatters in place."""
    put_on_path()
    os.chdir(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    subprocess.run([BUILDIFIER, "-mode=fix", "-lint=fix", *sources(".bzl", "BUILD.bazel", "MODULE.bazel")], check=True)
    subprocess.run(["ruff", "format", "--no-cache", "."], check=True)
    return subprocess.run(["ruff", "check", "--fix", "--no-cache", "."], check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
