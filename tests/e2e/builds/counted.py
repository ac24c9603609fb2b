"""What tests of changes share: an SDK of planted artifacts that is built, and builds of it whose actions are counted.

class ActionsTest(CountedTest):
    files = {"blas_lib_generic/stage/lib/libblas.so.1": b"…"}
"""

import tempfile
import time
import unittest
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from tests.e2e.testing.builds import Build, Workspace, built

#: Sets a run apart from those before it in the same output base, of which outputs may still be there.
RUN = f"{time.time_ns()}"
#: More than `BIG_FILE_BYTES` of the catalog: such a file has actions of its own.
BIG = bytes(range(256)) * (33 << 12)
COUNTED = ("RocmInspect", "RocmPlan", "RocmPack", "RocmPlatformTag", "RocmSbom", "RocmLink", "RocmSdist")


class CountedTest(unittest.TestCase):
    """Each test changes one thing of an SDK that is built, builds again and counts."""

    #: The SDK: path of each file in the artifacts directory -> content.
    files: ClassVar[Mapping[str, bytes]] = {}
    #: Options of every build.
    options: ClassVar[tuple[str, ...]] = ()
    directory: ClassVar[Path]
    workspace: ClassVar[Workspace]

    @classmethod
    def setUpClass(cls) -> None:
        """Lays the artifacts out and builds all."""
        holder = tempfile.TemporaryDirectory(prefix="rocm-artifacts-")
        cls.addClassCleanup(holder.cleanup)
        cls.directory = Path(holder.name)
        for path, content in cls.files.items():
            cls.write(path, content)
            (cls.directory / path.split("/")[0] / "artifact_manifest.txt").write_text("stage\n")
        version = f"--//packaging:version=7.10.0.dev{RUN}"
        cls.workspace = Workspace(artifacts=cls.directory, options=(*cls.options, version))
        built(cls.build())

    @classmethod
    def write(cls, path: str, content: bytes) -> None:
        """Write a file of an artifact."""
        file = cls.directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    @classmethod
    def build(cls, *options: str) -> Build:
        """Build every distribution."""
        return built(cls.workspace.build("//packaging:all_wheels", options=options))

    def assert_ran(self, build: Build, **expected: list[str]) -> None:
        """Assert which targets' actions were executed, by mnemonic; those not named ran none."""
        ran = {mnemonic: [action.label.partition(":")[2] for action in build.ran(mnemonic)] for mnemonic in COUNTED}
        ran = {mnemonic: labels for mnemonic, labels in ran.items() if labels}
        assert ran == expected, f"expected {expected}; ran {ran}"
