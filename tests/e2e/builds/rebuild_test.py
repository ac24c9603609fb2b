"""Distributions of a channel, built again by somebody else: from a clone, a key and the artifacts.

    .ci/run rebuild

The second build has another directory, output base, umask, locale, time zone and number of jobs. Then one file of an
artifact is another: the member and the artifact are named.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.testing.builds import WORKSPACE, Workspace, built, copy_workspace, remove_output_base
from tests.e2e.testing.wheels_command import installed

ARTIFACT = "core-hip_lib_generic"
STAGE = f"{ARTIFACT}/core/clr/stage"
#: The copy is no checkout: both builds are told the commit.
COMMIT = {"ROCM_COMMIT": "efed3c3b10a5cce8578f58f8eb288582c26d18c4", "ROCM_COMMIT_DATE": "20251021"}
ELSEWHERE = COMMIT | {"LC_ALL": "C", "TZ": "KTM-5:45", "SOURCE_DATE_EPOCH": "86400"}
PROVENANCE = "bazel-bin/packaging/provenance"


def lay_out(directory: Path, content: str) -> Path:
    """Write an artifact with two files."""
    for path, text in {"lib/data": content, "share/more": "more"}.items():
        file = directory / STAGE / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (directory / ARTIFACT / "artifact_manifest.txt").write_text("core/clr/stage\n")
    return directory


@dataclass(frozen=True)
class Release:
    """The folder of a channel, its key and what was built, and the command `rocm-wheels`."""

    folder: Path
    command: Path

    def wheels(self, *arguments: object, expected: int = 0, **variables: str) -> str:
        """Run the command under another umask; return what it prints."""
        command = ["sh", "-c", 'umask 077 && exec "$0" "$@"', self.command, *arguments]
        environment = os.environ | variables
        done = subprocess.run(list(map(str, command)), env=environment, stdout=subprocess.PIPE, text=True, check=False)
        assert done.returncode == expected, done.stdout
        return done.stdout

    def rebuild(self, clone: Workspace, artifacts: Path, *patterns: str, expected: int = 0) -> str:
        """Build distributions of the channel again."""
        files = [path for pattern in patterns for path in (self.folder / "channel/files").glob(f"*/{pattern}")]
        assert len(files) == len(patterns), files
        options = f"--trust={self.folder / 'key.pub'}", f"--workspace={clone.directory}", f"--artifacts={artifacts}"
        return self.wheels("rebuild", *files, *options, "--", "--jobs=3", expected=expected, **ELSEWHERE)


@pytest.fixture(name="clone", scope="module")
def _clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    clone = Workspace(tmp_path_factory.mktemp("somewhere") / "a clone")
    copy_workspace(clone.directory)
    yield clone
    output_base = Path(clone.info("output_base"))
    clone.run("shutdown")
    remove_output_base(output_base)


@pytest.fixture(name="release", scope="module")
def _release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Publish a build with signed statements."""
    folder = tmp_path_factory.mktemp("release")
    release = Release(folder, installed(folder / "environment"))
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", folder / "key.pem"], check=True)
    subprocess.run(["openssl", "pkey", "-in", folder / "key.pem", "-pubout", "-out", folder / "key.pub"], check=True)
    first = Workspace(artifacts=lay_out(folder / "artifacts", "one"), environment=COMMIT)
    built(first.build("//packaging:dist", "//packaging:provenance"))
    for name in ("dist", "provenance"):
        shutil.copytree(WORKSPACE / "bazel-bin/packaging" / name, folder / name)
    channel, key = f"--channel={folder / 'channel'}", f"--key={folder / 'key.pem'}"
    release.wheels("channel", "init", channel, "--stream=stable")
    release.wheels("channel", "add", channel, "--stream=stable", key, folder / "dist", folder / "provenance")
    release.wheels("channel", "check", channel)
    return release


def test_the_same_bytes_elsewhere(release: Release, clone: Workspace, tmp_path: Path) -> None:
    artifacts = lay_out(tmp_path / "artifacts of somebody", "one")
    said = release.rebuild(clone, artifacts, "rocm_sdk_core-*.whl", "rocm-*.tar.gz").splitlines()
    assert said.pop() == "2 of 2 have the same bytes"
    assert len(said) == 2, said
    assert all(": the same bytes, sha256 " in line for line in said), said
    statements = sorted((clone.directory / PROVENANCE).glob("*.json"))
    assert len(statements) == 2
    for path in statements:
        assert path.read_bytes() == (release.folder / "provenance" / path.name).read_bytes(), path.name


def test_another_file_in_an_artifact(release: Release, clone: Workspace, tmp_path: Path) -> None:
    artifacts = lay_out(tmp_path / "artifacts", "two")
    said = release.rebuild(clone, artifacts, "rocm_sdk_core-*.whl", expected=1)
    members, _, causes = said.partition("These inputs differ:\n")
    assert "  _rocm_sdk_core/lib/data: expected sha256 " in members
    assert "share/more" not in members
    assert causes.startswith(f"  artifact {ARTIFACT}: expected artifactManifest ")
    assert len(causes.splitlines()) == 2, "the artifact, and how many are the same"
