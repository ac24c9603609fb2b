"""What the benchmark of images compares with: the same wheels, installed by pip in a Containerfile's `RUN`.

buildah builds it without a daemon. It is kind to what it stands for: the wheels are mounted, so no layer has them; pip
downloads nothing, and leaves out what it would compile. The image ends as an OCI image layout, compressed as for a
registry.
"""

import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.benchmark.artifacts import link_or_copy
from tests.benchmark.cost import Cost, Meter

BASE = "FROM scratch\nADD root.tar /\n"
INSTALL = """\
FROM localhost/base
RUN --mount=type=bind,target=/wheels python3 -m pip install --break-system-packages --no-compile --no-deps --no-index \
--quiet --root-user-action=ignore /wheels/*.whl
"""


@dataclass(frozen=True)
class Buildah:
    """The program, and where it keeps images."""

    #: With its global options.
    command: tuple[str, ...]
    scratch: Path

    def _run(self, *arguments: str) -> None:
        storage = (f"--root={self.scratch / 'storage'}", f"--runroot={self.scratch / 'run'}")
        subprocess.run([*self.command, *storage, *arguments], check=True, stdout=sys.stderr)

    def _build(self, name: str, containerfile: str, files: Iterable[tuple[Path, str]]) -> None:
        """Build an image of files, each with its name in the context."""
        context = self.scratch / "contexts" / name
        context.mkdir(parents=True, exist_ok=True)
        for old in context.iterdir():
            old.unlink()
        for file, in_context in files:
            link_or_copy(str(file.resolve()), str(context / in_context))
        (context / ".containerignore").write_text(".containerignore\nContainerfile\n")
        (context / "Containerfile").write_text(containerfile)
        self._run("build", "--isolation=chroot", f"--tag=localhost/{name}", str(context))

    def make_base(self, root: Path) -> None:
        """Make the base image of the tar of a root file system, which has pip."""
        self._build("base", BASE, [(root, "root.tar")])

    def install(self, name: str, wheels: Iterable[Path]) -> tuple[Cost, Path]:
        """Make an image with wheels installed; return what that cost, and the layout."""
        layout = self.scratch / "layouts" / name
        layout.mkdir(parents=True, exist_ok=True)
        with Meter(os.getpid()) as meter:
            self._build(name, INSTALL, ((wheel, wheel.name) for wheel in wheels))
            self._run("push", "--quiet", f"localhost/{name}", f"oci:{layout}:latest")
        self._run("rmi", f"localhost/{name}")
        return meter.cost, layout
