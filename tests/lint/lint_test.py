"""Every source of the workspace is as the linters want it: buildifier, ruff, mypy --strict, shellcheck, zizmor.

`bazel run //tests/lint:fix` mends what can be mended without thinking.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lint.workspace import BUILDIFIER, WORKSPACE, sources


def lint(*command: str | Path, **variables: str) -> None:
    """Run a linter in the workspace; what it prints is the failure's message."""
    result = subprocess.run(
        command,
        cwd=WORKSPACE,
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout


def test_buildifier() -> None:
    lint(BUILDIFIER, "-mode=check", "-lint=warn", *sources(".bzl", "BUILD.bazel", "MODULE.bazel"))


def test_ruff_check() -> None:
    lint("ruff", "check", "--no-cache", ".")


def test_ruff_format() -> None:
    lint("ruff", "format", "--check", "--no-cache", ".")


# Each has a conftest.py, which mypy takes for one module when it sees both.
@pytest.mark.parametrize("folders", [("develop", "lib", "rules", "tests", "tools", "wheels"), ("packaging",)])
def test_mypy(folders: tuple[str, ...], tmp_path: Path) -> None:
    paths = os.pathsep.join(path for path in sys.path if path)
    command = [sys.executable, "-m", "mypy", f"--cache-dir={tmp_path}", "--config-file=mypy.ini"]
    lint(*command, *folders, PYTHONPATH=paths)


def test_shellcheck() -> None:
    lint("shellcheck", "--severity=style", "--external-sources", "bazelw", "tools/bazel", ".ci/run", *sources(".sh"))


def test_zizmor() -> None:
    """Workflows of GitHub, offline: syntax, permissions, pinned actions."""
    examples = [path for path in sources(".yml") if path.startswith("docs/release/ci/")]
    lint("zizmor", "--offline", "--no-progress", ".github/workflows", *examples)
