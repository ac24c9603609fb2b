"""The catalog, through real builds: what the next build notices, and what it says of bad input.

    .ci/run catalog

Needs nothing but this workspace: each test runs bazelw on an artifacts directory of its own.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from develop.testing.planted_archives import directory, file, link, manifest, plant
from tests.e2e.testing.builds import WORKSPACE

ARTIFACT = "core-hip_lib_generic"
STAGE = f"{ARTIFACT}/core/clr/stage"


def bazelw(
    directory: str, *targets: str, options: tuple[str, ...] = (), command: str = "build"
) -> "subprocess.CompletedProcess[str]":
    """Build targets with ROCM_ARTIFACTS_DIR set; the result has all that was printed."""
    arguments = ["./bazelw", command, f"--repo_env=ROCM_ARTIFACTS_DIR={directory}", *options, *targets]
    return subprocess.run(
        arguments, cwd=WORKSPACE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


class Sdk:
    """One small artifact in a directory, and what the build makes of it."""

    def __init__(self, directory: Path) -> None:
        """Lay the artifact out."""
        self.directory = directory
        self.stage = directory / STAGE
        self.write("lib/data", "one")
        self.write("share/naïve a+b@c:d.txt", "name")
        (self.stage / "lib/link").symlink_to("data")
        (self.stage / "lib/dangling").symlink_to("nowhere")
        self.manifest = directory / ARTIFACT / "artifact_manifest.txt"
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

    def built(self) -> bytes:
        """Build core's wheel and return its bytes."""
        result = bazelw(str(self.directory), "//packaging:core_wheel")
        assert result.returncode == 0, result.stdout
        # Others, of other versions, may lie beside it.
        wheel = re.search(r"bazel-bin/packaging/rocm_sdk_core-\S+\.whl", result.stdout)
        assert wheel, result.stdout
        return (WORKSPACE / wheel[0]).read_bytes()

    def replace_by_archive(self, artifact: str, suffix: str) -> Path:
        """Put an archive in the place of an artifact's folder, made with a umask of 077; returns its path."""
        folder = self.directory / artifact
        members = []
        for path in [folder / "artifact_manifest.txt", *sorted((folder / "core").rglob("*"))]:
            name, mode = str(path.relative_to(folder)), path.lstat().st_mode & 0o700
            if path.is_symlink():
                members.append(link(name, str(path.readlink())))
            elif path.is_dir():
                members.append(directory(name, mode))
            else:
                members.append(file(name, path.read_bytes(), mode))
        shutil.rmtree(folder)
        return plant(self.directory / (artifact + suffix), members)

    def second_artifact(self) -> str:
        """Add another artifact of core; returns its name."""
        name = "core-hip_run_generic"
        stage = self.directory / name / "core/clr/stage"
        (stage / "empty").mkdir(parents=True)
        (stage / "bin").mkdir()
        (stage / "bin/tool").write_text("#!/bin/sh\n")
        (stage / "bin/tool").chmod(0o755)
        (stage / "bin/other").symlink_to("tool")
        (self.directory / name / "artifact_manifest.txt").write_text("core/clr/stage\n")
        return name


@pytest.fixture
def sdk(tmp_path: Path) -> Sdk:
    """Give each test an artifact of its own."""
    return Sdk(tmp_path)


def test_the_next_build_notices_every_change(sdk: Sdk) -> None:
    """Additions, removals, contents, modes, and texts of links, dangling or not."""
    plan = sdk.plan()
    assert plan["lib/data"]["treatment"] == "keep"
    assert plan["share/naïve a+b@c:d.txt"]["treatment"] == "keep"
    assert plan["lib/link"]["link"] == "data"

    sdk.write("lib/added.txt", "new")
    assert "lib/added.txt" in sdk.plan()
    (sdk.stage / "lib/added.txt").unlink()
    assert "lib/added.txt" not in sdk.plan()
    sdk.write("new directory/deep/file.txt", "new")
    assert "new directory/deep/file.txt" in sdk.plan()

    assert sdk.plan()["lib/data"]["type"] == "data"
    sdk.write("lib/data", "#!/bin/sh\n")
    assert sdk.plan()["lib/data"]["type"] == "script"

    (sdk.stage / "lib/data").chmod(0o755)
    plan = sdk.plan()
    assert plan["lib/data"]["mode"] == "0755"
    assert plan["lib/link"]["treatment"] == "launcher"

    for name, text in (("link", "../share/naïve a+b@c:d.txt"), ("dangling", "nowhere else")):
        (sdk.stage / "lib" / name).unlink()
        (sdk.stage / "lib" / name).symlink_to(text)
        assert sdk.plan()[f"lib/{name}"]["link"] == text


def test_archives_give_the_same_wheel_as_folders(sdk: Sdk) -> None:
    """Alone, and beside a folder, of each kind; modes and links and all."""
    other = sdk.second_artifact()
    (sdk.stage / "lib/data").chmod(0o664)
    expected = sdk.built()
    for suffix in (".tar.gz", ".tar.xz", ".tar.zst"):
        archive = sdk.replace_by_archive(other, suffix)
        assert sdk.built() == expected, suffix
        archive.unlink()
        sdk.second_artifact()
    sdk.replace_by_archive(ARTIFACT, ".tar.zst")
    sdk.replace_by_archive(other, ".tar.xz")
    assert sdk.built() == expected


def test_an_archive_is_unpacked_again_only_if_it_changed(sdk: Sdk) -> None:
    """A change in a folder beside it does not unpack it again; an archive that is not needed is never unpacked."""
    archive = sdk.replace_by_archive(ARTIFACT, ".tar.zst")
    unneeded = plant(sdk.directory / "blas_lib_gfx942.tar.gz", [file("no manifest")])
    assert sdk.plan()["lib/data"]["type"] == "data"
    output_base = bazelw(str(sdk.directory), "output_base", command="info", options=("--ui_event_filters=-info",))
    external = Path(output_base.stdout.splitlines()[-1], "external")
    (unpacked,) = external.glob(f"*rocm_artifacts_directory.{ARTIFACT}/unpacked")
    first = unpacked.stat()
    assert not list(external.glob("*rocm_artifacts_directory.blas_lib_gfx942"))
    other = sdk.second_artifact()
    (sdk.directory / other / "core/clr/stage/bin/tool").chmod(0o600)
    assert sdk.plan()["bin/tool"]["mode"] == "0644"
    assert (unpacked.stat().st_ino, unpacked.stat().st_ctime_ns) == (first.st_ino, first.st_ctime_ns)

    plant(archive, [manifest("core/clr/stage\n"), file("core/clr/stage/lib/data", b"#!/bin/sh\n", 0o755)])
    plan = sdk.plan()
    assert (plan["lib/data"]["type"], plan["lib/data"]["mode"]) == ("script", "0755")
    assert "lib/link" not in plan
    archive.unlink()
    assert "lib/data" not in sdk.plan()
    unneeded.unlink()


def test_archives_that_are_refused(sdk: Sdk) -> None:
    """With the names of the archive and the member; nothing is left behind."""
    shutil.rmtree(sdk.directory / ARTIFACT)
    name = f"{ARTIFACT}.tar.gz"
    path = sdk.directory / name
    plant(path, [manifest("core/clr/stage\n"), file("../escaped")])
    sdk.assert_refused(name, "tar refuses it: ../escaped: Member name contains '..'")
    path.write_bytes(path.read_bytes()[:-10])
    sdk.assert_refused(name, "truncated or corrupted", "replace it")
    (sdk.directory / ARTIFACT).mkdir()
    sdk.assert_refused(name, f"{ARTIFACT} is the same artifact; remove one of them")


def test_sources_of_artifacts(sdk: Sdk) -> None:
    """A source that nobody declared, and two sources at once."""
    sdk.assert_refused(
        "ROCM_ARTIFACTS=banana: there is no such source of artifacts; expected one of: ",
        "locked",
        options=("--repo_env=ROCM_ARTIFACTS=banana", "--repo_env=ROCM_ARTIFACTS_DIR="),
    )
    sdk.assert_refused("expected one of them; unset the other", options=("--repo_env=ROCM_ARTIFACTS=locked",))


def test_a_directory_that_is_not_there(sdk: Sdk) -> None:
    """The variable is named, and what it should hold."""
    sdk.assert_refused("ROCM_ARTIFACTS_DIR=/nonexistent: cannot be read", "absolute path", directory="/nonexistent")
    sdk.assert_refused("expected an absolute path", directory="relative/path")


def test_a_manifest_that_leads_outside(sdk: Sdk) -> None:
    """tools/fetch/catalog/bad_input_test.py has what else is refused."""
    sdk.manifest.write_text("../x\n")
    sdk.assert_refused("'../x' leads outside the artifact")


def test_two_artifacts_with_different_content(sdk: Sdk) -> None:
    """Of the same size: only the contents tell."""
    other = sdk.directory / "core-hip_run_generic/core/clr/stage/lib/data"
    other.parent.mkdir(parents=True)
    (sdk.directory / "core-hip_run_generic/artifact_manifest.txt").write_text("core/clr/stage\n")
    other.write_text("one")
    result = bazelw(str(sdk.directory), "//packaging:core_wheel")
    assert result.returncode == 0, result.stdout
    other.write_text("two")
    sdk.assert_refused(
        "core-hip_lib_generic/core/clr/stage/lib/data",
        "core-hip_run_generic/core/clr/stage/lib/data",
        "expected equal content",
    )


def test_a_truncated_elf_file(sdk: Sdk) -> None:
    """Named by its place in the artifacts directory, with the remedy."""
    (sdk.stage / "lib/libcut.so").write_bytes(Path("/proc/self/exe").read_bytes()[:100])
    sdk.assert_refused(f"{STAGE}/lib/libcut.so", "build the artifact again")


def test_a_date_that_is_none(sdk: Sdk) -> None:
    """Our tools refuse it, and no compiler sees it; an empty one is none."""
    sdk.assert_refused(
        "SOURCE_DATE_EPOCH is 'yesterday'; expected seconds since 1970",
        options=("--action_env=SOURCE_DATE_EPOCH=yesterday",),
    )
    result = bazelw(str(sdk.directory), "//packaging:core_wheel", options=("--action_env=SOURCE_DATE_EPOCH=",))
    assert result.returncode == 0, result.stdout
