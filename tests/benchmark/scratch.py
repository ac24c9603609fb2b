"""Where a measurement builds, and folders that it leaves behind."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.testing.builds import WORKSPACE, Workspace


@contextmanager
def scratch_workspace(folder: Path, artifacts: Path, *options: str) -> Iterator[Workspace]:
    """Yield this workspace with an output base in a folder, which is removed with its server at the end.

    Its builds leave the workspace's own `bazel-bin` as it is, and use no disk cache that user.bazelrc names.
    """
    workspace = Workspace(
        Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", WORKSPACE)),
        artifacts.absolute(),
        environment={"PATH": os.environ["PATH"]},
        startup=(f"--output_base={folder / 'output_base'}", "--max_idle_secs=600"),
        options=("--symlink_prefix=/", "--disk_cache=", *options),
    )
    try:
        yield workspace
    finally:
        workspace.run("shutdown")
        remove(folder / "output_base")


def remove(folder: Path) -> None:
    """Remove a folder with an output base in it, whose directories are read-only."""
    for directory, _, _ in os.walk(folder):
        Path(directory).chmod(0o700)
    shutil.rmtree(folder)
