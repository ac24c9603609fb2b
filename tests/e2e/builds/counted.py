"""What tests of changes share: an SDK of planted artifacts that is built, and builds of it whose actions are counted.

with planted({"blas_lib_generic/stage/lib/libblas.so.1": b"…"}) as sdk:
    sdk.write("blas_lib_generic/stage/lib/libblas.so.1", b"changed")
    assert_ran(sdk.build(), RocmPack=["libraries"])
"""

import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.testing.builds import Build, Workspace, built

#: Sets a run apart from those before it in the same output base, of which outputs may still be there.
RUN = f"{time.time_ns()}"
#: More than `BIG_FILE_BYTES` of the catalog: such a file has actions of its own.
BIG = bytes(range(256)) * (33 << 12)
COUNTED = ("RocmInspect", "RocmPlan", "RocmPack", "RocmPlatformTag", "RocmSbom", "RocmLink", "RocmSdist")


@dataclass(frozen=True)
class Sdk:
    """Artifacts in a directory, and the workspace that packages them."""

    directory: Path
    workspace: Workspace

    def write(self, path: str, content: bytes) -> None:
        """Write a file of an artifact."""
        lay_out(self.directory, {path: content})

    def build(self, *options: str) -> Build:
        """Build every distribution."""
        return built(self.workspace.build("//packaging:all_wheels", options=options))


def lay_out(directory: Path, files: Mapping[str, bytes]) -> None:
    """Write files of artifacts, path of each -> content, and the artifacts' manifests."""
    for path, content in files.items():
        file = directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        manifest = directory / path.split("/")[0] / "artifact_manifest.txt"
        if not manifest.exists():
            manifest.write_text("stage\n")


@contextmanager
def planted(files: Mapping[str, bytes], *options: str) -> Iterator[Sdk]:
    """Lay artifacts out, path of each file -> content, and build them; every build gets the options."""
    with tempfile.TemporaryDirectory(prefix="rocm-artifacts-") as holder:
        version = f"--//packaging:version=7.10.0.dev{RUN}"
        sdk = Sdk(Path(holder), Workspace(artifacts=Path(holder), options=(*options, version)))
        lay_out(sdk.directory, files)
        sdk.build()
        yield sdk


def assert_ran(build: Build, **expected: list[str]) -> None:
    """Assert which targets' actions were executed, by mnemonic; those not named ran none."""
    ran = {mnemonic: [action.label.partition(":")[2] for action in build.ran(mnemonic)] for mnemonic in COUNTED}
    ran = {mnemonic: labels for mnemonic, labels in ran.items() if labels}
    assert ran == expected, f"expected {expected}; ran {ran}"
