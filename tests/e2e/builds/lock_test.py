"""The lock file, through real builds: only what is needed is fetched, and what is wrong is said.

    .ci/run lock

Works in a copy of the workspace, with a Bazel server and an output base of its own, and a bucket on loopback.
"""

import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from develop.testing.bucket import Bucket, serve
from develop.testing.planted_archives import COMPRESS, Planted, file, manifest, tar
from tests.e2e.testing.builds import Build, Workspace, built, copy_workspace

RUN = "77-linux/"
LOCK = "rocm_artifacts.lock.json"
#: Of every archive: what it is named, and what is in it.
ARCHIVES: dict[str, list[Planted]] = {
    "base_lib_generic": [
        file("stage/share/therock/therock_manifest.json", b'{"flags": {"KPACK_SPLIT_ARTIFACTS": true}}'),
        file("stage/share/therock/dist_info.json", b'{"dist_amdgpu_targets": "gfx942;gfx1100"}'),
    ],
    "core-hip_lib_generic": [file("stage/lib/data.txt", b"data")],
    "blas_lib_generic": [file("stage/lib/blas.txt", b"blas")],
    "blas_lib_gfx1100": [file("stage/lib/blas/gfx1100.co", b"1100")],
    "blas_lib_gfx942": [file("stage/lib/blas/gfx942.co", b"942")],
    "blas_lib_gfx942:xnack+": [file("stage/lib/blas/gfx942-xnack.co", b"942 xnack+")],
}


@dataclass(frozen=True)
class Locked:
    """A copy of the workspace, and the bucket that its lock file names."""

    workspace: Workspace
    #: Bazel's folder of external repositories.
    external: Path
    bucket: Bucket

    def lock(self, *options: str) -> Path:
        """Write the lock file with the command; returns its path."""
        arguments = (f"--base-url={self.bucket.url}", "--run-id=77", *options)
        result = self.workspace.run("run", "//tools/fetch/lock", "--", *arguments)
        assert result.returncode == 0, result.stdout
        return self.workspace.directory / LOCK

    def build(self, *targets: str) -> Build:
        """Build targets of the package `packaging`."""
        return self.workspace.build(*(f"//packaging:{target}" for target in targets))

    def refused(self, *messages: str, target: str = "core_plan") -> None:
        """Assert that a build fails and says all of this, instead of the bucket's address `URL`."""
        build = self.build(target)
        assert not build.succeeded, build.output
        said = build.output.replace(self.bucket.url, "URL")
        for message in messages:
            assert message in said, (message, said)
        assert "java.lang" not in said.replace("java.io.IOException", "")

    def fetched(self) -> list[str]:
        """List the artifacts whose repositories are there, and forget what was asked of the bucket."""
        paths = self.external.glob("*rocm_locked.*/BUILD.bazel")
        return sorted(path.parent.name.partition("rocm_locked.")[2] for path in paths)

    def edit(self, **changes: Any) -> None:
        """Change the first archive of core in the lock file."""
        path = self.workspace.directory / LOCK
        document = json.loads(path.read_text())
        (one,) = (one for one in document["archives"] if one["name"] == "core-hip_lib_generic")
        one |= changes
        path.write_text(json.dumps(document))


@pytest.fixture(scope="module")
def workspace() -> Iterator[Workspace]:
    """Copy the workspace; all tests share the copy and its server."""
    holder = Path(tempfile.mkdtemp(prefix="rocm-lock-"))
    (holder / "workspace").mkdir()
    copy_workspace(holder / "workspace")
    workspace = Workspace(
        holder / "workspace",
        startup=(f"--output_base={holder / 'output_base'}",),
        options=("--repo_env=ROCM_ARTIFACTS=locked", f"--repository_cache={holder / 'cache'}"),
    )
    try:
        yield workspace
    finally:
        workspace.run("shutdown")
        shutil.rmtree(holder, ignore_errors=True)


@pytest.fixture
def locked(workspace: Workspace, request: pytest.FixtureRequest) -> Iterator[Locked]:
    """Serve a bucket of its own to each test: no archive is known from another one."""
    bucket = Bucket()
    for name, members in ARCHIVES.items():
        own = file("beside", request.node.name.encode())
        bucket.add(f"{RUN}{name}.tar.zst", COMPRESS[".tar.zst"](tar([manifest(), own, *members])))
    with serve(bucket):
        yield Locked(workspace, workspace.directory.parent / "output_base/external", bucket)


def test_only_what_is_needed_is_fetched(locked: Locked) -> None:
    """By the plan of a package, and once."""
    locked.lock()
    locked.bucket.requests.clear()
    built(locked.build("core_plan"))
    assert locked.fetched() == ["base_lib_generic", "core-hip_lib_generic"]
    built(locked.build("device_gfx1100_plan"))
    assert locked.fetched() == ["base_lib_generic", "blas_lib_generic", "blas_lib_gfx1100", "core-hip_lib_generic"]
    built(locked.build("all_wheels"))
    assert len(locked.fetched()) == len(ARCHIVES)
    assert sorted(locked.bucket.requests) == sorted(
        f"GET /{RUN}{re.sub('[+]', '%2B', name.replace(':', '%3A'))}.tar.zst" for name in ARCHIVES
    )
    wheels = [path.name for path in (locked.workspace.directory / "bazel-bin/packaging").glob("*.whl")]
    assert sorted(name.split("-")[0] for name in wheels) == [
        "rocm_sdk_core",
        "rocm_sdk_devel",
        "rocm_sdk_device_gfx1100",
        "rocm_sdk_device_gfx942",
        "rocm_sdk_libraries",
    ]


def test_a_flipped_byte(locked: Locked) -> None:
    """Whatever the archive's own checksums are."""
    locked.lock()
    path = f"{RUN}core-hip_lib_generic.tar.zst"
    good = locked.bucket.files[path]
    locked.bucket.files[path] = good[:100] + bytes([good[100] ^ 1]) + good[101:]
    locked.refused(
        f"URL/{path}",
        "Checksum was",
        "the archive of core-hip_lib_generic could not be fetched with the SHA-256",
        "bazel run @rules_rocm_python//tools/fetch/lock",
    )
    locked.bucket.files[path] = good
    built(locked.build("core_plan"))


def test_an_archive_that_is_not_there_any_more(locked: Locked) -> None:
    """Until a mirror has it."""
    with serve(Bucket(files=dict(locked.bucket.files))) as mirror:
        locked.lock()
        del locked.bucket.files[f"{RUN}core-hip_lib_generic.tar.zst"]
        locked.refused(
            "404 Not Found",
            f"{LOCK}: the archive of core-hip_lib_generic could not be fetched",
            "add a mirror that has it",
        )
        path = locked.workspace.directory / LOCK
        document = json.loads(path.read_text())
        document["base_urls"].append(mirror.url)
        path.write_text(json.dumps(document))
        built(locked.build("core_plan"))
        assert f"GET /{RUN}core-hip_lib_generic.tar.zst" in mirror.requests


def test_a_download_that_breaks_off_is_finished(locked: Locked) -> None:
    """By Bazel, which asks again for what it has not, of servers that give parts: S3 and all usual ones."""
    locked.lock()
    path = f"{RUN}core-hip_lib_generic.tar.zst"
    locked.bucket.trouble[path] = [503, "break"]
    locked.bucket.requests.clear()
    built(locked.build("core_plan"))
    half = len(locked.bucket.files[path]) // 2
    assert [one for one in locked.bucket.requests if path in one] == [
        f"GET /{path}",
        f"GET /{path}",
        f"GET /{path} bytes={half}-",
    ]


def test_a_lock_file_that_cannot_be_used(locked: Locked) -> None:
    """Only who builds from it hears of it."""
    path = locked.workspace.directory / LOCK
    path.unlink(missing_ok=True)
    locked.refused(f"{LOCK}: there is no such file; write it with `bazel run @rules_rocm_python//tools/fetch/lock`")
    for text, message in (
        ("{", "expected a JSON object"),
        ('{"version": 2}', "version is 2; expected 1"),
        ('{"version": 1}', "archives is None; expected a list"),
    ):
        path.write_text(text)
        locked.refused(f"{LOCK}: {message}")
    locked.lock()
    locked.edit(sha256="banana")
    locked.refused(f"{LOCK}: archives:", "is not like")
    built(locked.workspace.build("//packaging:core_plan", options=("--repo_env=ROCM_ARTIFACTS=",)))
