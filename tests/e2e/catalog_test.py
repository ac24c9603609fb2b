"""The catalog, through real builds: what the next build notices, and what it says of bad input.

    python3 tests/e2e/catalog_test.py

Needs nothing but this workspace: each test runs bazelw on an artifacts directory of its own.
"""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

WORKSPACE = Path(__file__).resolve().parents[2]
ARTIFACT = "core-hip_lib_generic"
STAGE = f"{ARTIFACT}/core/clr/stage"


def bazelw(directory: str, *targets: str, options: tuple[str, ...] = ()) -> "subprocess.CompletedProcess[str]":
    """Build targets with ROCM_ARTIFACTS_DIR set; the result has all that was printed."""
    command = ["./bazelw", "build", f"--repo_env=ROCM_ARTIFACTS_DIR={directory}", *options, *targets]
    return subprocess.run(
        command, cwd=WORKSPACE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


class CatalogTest(unittest.TestCase):
    """Each test starts from one small artifact."""

    def setUp(self) -> None:
        """Lays the artifact out."""
        holder = tempfile.TemporaryDirectory(prefix="rocm-artifacts-")
        self.addCleanup(holder.cleanup)
        self.directory = Path(holder.name)
        self.stage = self.directory / STAGE
        self.write("lib/data.txt", "one")
        self.write("share/naïve a+b@c:d.txt", "name")
        (self.stage / "lib/link").symlink_to("data.txt")
        (self.stage / "lib/dangling").symlink_to("nowhere")
        self.manifest = self.directory / ARTIFACT / "artifact_manifest.txt"
        self.manifest.write_text("core/clr/stage\n")

    def write(self, path: str, content: str) -> Path:
        """Write a file of the artifact."""
        file = self.stage / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        return file

    def plan(self) -> dict[str, dict[str, Any]]:
        """Build the plan of core and returns its entries by path."""
        result = bazelw(str(self.directory), "//packaging:core_plan")
        assert result.returncode == 0, result.stdout
        document = json.loads((WORKSPACE / "bazel-bin/packaging/core.plan.json").read_text(encoding="utf-8"))
        return {entry["path"]: entry for entry in document["entries"]}

    def assert_refused(self, *messages: str, options: tuple[str, ...] = (), directory: str = "") -> None:
        """Assert that the build fails and says all of this."""
        result = bazelw(directory or str(self.directory), "//packaging:core_wheel", options=options)
        assert result.returncode != 0, result.stdout
        for message in messages:
            assert message in result.stdout
        assert "Traceback (most recent call last):\n  File" not in result.stdout

    def test_the_next_build_notices_every_change(self) -> None:
        """Additions, removals, contents, modes, and texts of links, dangling or not."""
        plan = self.plan()
        assert plan["lib/data.txt"]["treatment"] == "keep"
        assert plan["share/naïve a+b@c:d.txt"]["treatment"] == "keep"
        assert plan["lib/link"]["link"] == "data.txt"

        self.write("lib/added.txt", "new")
        assert "lib/added.txt" in self.plan()
        (self.stage / "lib/added.txt").unlink()
        assert "lib/added.txt" not in self.plan()
        self.write("new directory/deep/file.txt", "new")
        assert "new directory/deep/file.txt" in self.plan()

        assert self.plan()["lib/data.txt"]["type"] == "data"
        self.write("lib/data.txt", "#!/bin/sh\n")
        assert self.plan()["lib/data.txt"]["type"] == "script"

        (self.stage / "lib/data.txt").chmod(0o755)
        plan = self.plan()
        assert plan["lib/data.txt"]["mode"] == "0755"
        assert plan["lib/link"]["treatment"] == "launcher"

        for name, text in (("link", "../share/naïve a+b@c:d.txt"), ("dangling", "nowhere else")):
            (self.stage / "lib" / name).unlink()
            (self.stage / "lib" / name).symlink_to(text)
            assert self.plan()[f"lib/{name}"]["link"] == text

    def test_a_directory_that_is_not_there(self) -> None:
        """The variable is named, and what it should hold."""
        self.assert_refused(
            "ROCM_ARTIFACTS_DIR=/nonexistent: cannot be read", "/absolute/path", directory="/nonexistent"
        )
        self.assert_refused("expected an absolute path", directory="relative/path")

    def test_manifests(self) -> None:
        """Missing, naming what is not there, leading outside."""
        self.manifest.write_text("core/other\n")
        self.assert_refused("names 'core/other', but there is no such directory")
        self.manifest.write_text("../x\n")
        self.assert_refused("'../x' leads outside the artifact")
        self.manifest.write_text("/etc\n")
        self.assert_refused("'/etc' leads outside the artifact")
        self.manifest.unlink()
        self.assert_refused("no artifact_manifest.txt in it")

    def test_a_link_that_leads_outside(self) -> None:
        """Relative or absolute."""
        (self.stage / "lib/out").symlink_to("../../etc/passwd")
        self.assert_refused("the link lib/out -> ../../etc/passwd leads outside the artifact tree")

    def test_two_artifacts_with_different_content(self) -> None:
        """Of the same size: only the contents tell."""
        other = self.directory / "core-hip_run_generic/core/clr/stage/lib/data.txt"
        other.parent.mkdir(parents=True)
        (self.directory / "core-hip_run_generic/artifact_manifest.txt").write_text("core/clr/stage\n")
        other.write_text("one")
        result = bazelw(str(self.directory), "//packaging:core_wheel")
        assert result.returncode == 0, result.stdout
        other.write_text("two")
        self.assert_refused(
            "core-hip_lib_generic/core/clr/stage/lib/data.txt",
            "core-hip_run_generic/core/clr/stage/lib/data.txt",
            "expected equal content",
        )

    def test_a_truncated_elf_file(self) -> None:
        """Named by its place in the artifacts directory, with the remedy."""
        (self.stage / "lib/libcut.so").write_bytes(Path("/proc/self/exe").read_bytes()[:100])
        self.assert_refused(f"{STAGE}/lib/libcut.so", "build or fetch the artifact anew")

    def test_a_version_that_pep_440_refuses(self) -> None:
        """With the setting to change."""
        self.assert_refused(
            "'banana' is not a version that PEP 440 knows",
            "--//packaging:version",
            options=("--//packaging:version=banana",),
        )
        self.assert_refused(
            "is not in normal form; expected '7.10.0rc2'", options=("--//packaging:version=7.10.0-rc2",)
        )


if __name__ == "__main__":
    os.umask(0o022)
    unittest.main(verbosity=2)
