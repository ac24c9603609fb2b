"""The lock file, through real builds: only what is needed is fetched, and what is wrong is said.

    python3 -B -m tests.e2e.lock_test

Works in a copy of the workspace, with a Bazel server and an output base of its own, and a bucket on loopback.
"""

import json
import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any, ClassVar

from develop.testing.bucket import Bucket, serve
from develop.testing.planted_archives import COMPRESS, Planted, file, manifest, tar
from tests.e2e.builds import Build, Workspace, built, copy_workspace

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


class LockTest(unittest.TestCase):
    """All tests share the copy of the workspace and its server."""

    workspace: ClassVar[Workspace]
    external: ClassVar[Path]

    @classmethod
    def setUpClass(cls) -> None:
        """Copy the workspace."""
        holder = Path(tempfile.mkdtemp(prefix="rocm-lock-"))
        cls.addClassCleanup(shutil.rmtree, holder, ignore_errors=True)
        (holder / "workspace").mkdir()
        copy_workspace(holder / "workspace")
        cls.workspace = Workspace(
            holder / "workspace",
            startup=(f"--output_base={holder / 'output_base'}",),
            options=("--repo_env=ROCM_ARTIFACTS=locked", f"--repository_cache={holder / 'cache'}"),
        )
        cls.external = holder / "output_base/external"
        cls.addClassCleanup(cls.workspace.run, "shutdown")

    def setUp(self) -> None:
        """Serve a bucket of its own to each test: no archive is known from another one."""
        self.bucket = Bucket()
        for name, members in ARCHIVES.items():
            own = file("beside", self.id().encode())
            self.bucket.add(f"{RUN}{name}.tar.zst", COMPRESS[".tar.zst"](tar([manifest(), own, *members])))
        serving = serve(self.bucket)
        serving.__enter__()
        self.addCleanup(serving.__exit__, None, None, None)

    def lock(self, *options: str) -> Path:
        """Write the lock file with the command; returns its path."""
        arguments = ("lock", f"--base-url={self.bucket.url}", "--run-id=77", *options)
        result = self.workspace.run("run", "//tools/fetch/lock", "--", *arguments)
        assert result.returncode == 0, result.stdout
        return self.workspace.directory / LOCK

    def build(self, *targets: str) -> Build:
        """Build targets of the package `packaging`."""
        return self.workspace.build(*(f"//packaging:{target}" for target in targets))

    def refused(self, *messages: str, target: str = "core_plan") -> None:
        """Assert that a build fails and says all of this, in place of the bucket's address `URL`."""
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

    def test_only_what_is_needed_is_fetched(self) -> None:
        """By the plan of a package, and once."""
        self.lock()
        self.bucket.requests.clear()
        built(self.build("core_plan"))
        assert self.fetched() == ["base_lib_generic", "core-hip_lib_generic"]
        built(self.build("device_gfx1100_plan"))
        assert self.fetched() == ["base_lib_generic", "blas_lib_generic", "blas_lib_gfx1100", "core-hip_lib_generic"]
        built(self.build("all_wheels"))
        assert len(self.fetched()) == len(ARCHIVES)
        assert sorted(self.bucket.requests) == sorted(
            f"GET /{RUN}{re.sub('[+]', '%2B', name.replace(':', '%3A'))}.tar.zst" for name in ARCHIVES
        )
        wheels = [path.name for path in (self.workspace.directory / "bazel-bin/packaging").glob("*.whl")]
        assert sorted(name.split("-")[0] for name in wheels) == [
            "rocm_sdk_core",
            "rocm_sdk_devel",
            "rocm_sdk_device_gfx1100",
            "rocm_sdk_device_gfx942",
            "rocm_sdk_libraries",
        ]

    def test_a_flipped_byte(self) -> None:
        """Whatever the archive's own checksums are."""
        self.lock()
        path = f"{RUN}core-hip_lib_generic.tar.zst"
        good = self.bucket.files[path]
        self.bucket.files[path] = good[:100] + bytes([good[100] ^ 1]) + good[101:]
        self.refused(
            f"URL/{path}",
            "Checksum was",
            "the archive of core-hip_lib_generic could not be fetched with the SHA-256",
            "bazel run @rules_rocm_python//tools/fetch/lock -- lock",
        )
        self.bucket.files[path] = good
        built(self.build("core_plan"))

    def test_an_archive_that_is_not_there_any_more(self) -> None:
        """Until a mirror has it."""
        with serve(Bucket(files=dict(self.bucket.files))) as mirror:
            self.lock()
            del self.bucket.files[f"{RUN}core-hip_lib_generic.tar.zst"]
            self.refused(
                "404 Not Found",
                f"{LOCK}: the archive of core-hip_lib_generic could not be fetched",
                "add a mirror that has it",
            )
            path = self.workspace.directory / LOCK
            document = json.loads(path.read_text())
            document["base_urls"].append(mirror.url)
            path.write_text(json.dumps(document))
            built(self.build("core_plan"))
            assert f"GET /{RUN}core-hip_lib_generic.tar.zst" in mirror.requests

    def test_a_download_that_breaks_off_is_finished(self) -> None:
        """By Bazel, which asks again for what it has not, of servers that give parts: S3 and all usual ones."""
        self.lock()
        path = f"{RUN}core-hip_lib_generic.tar.zst"
        self.bucket.trouble[path] = [503, "break"]
        self.bucket.requests.clear()
        built(self.build("core_plan"))
        half = len(self.bucket.files[path]) // 2
        assert [one for one in self.bucket.requests if path in one] == [
            f"GET /{path}",
            f"GET /{path}",
            f"GET /{path} bytes={half}-",
        ]

    def test_a_wrong_size(self) -> None:
        """Which no honest lock file has."""
        self.lock()
        self.edit(size=5)
        self.refused("core-hip_lib_generic.tar.zst: has", "bytes; expected 5, as the lock file says")

    def test_a_lock_file_that_cannot_be_used(self) -> None:
        """Only who builds from it hears of it."""
        path = self.workspace.directory / LOCK
        path.unlink(missing_ok=True)
        self.refused(
            f"{LOCK}: there is no such file; write it with `bazel run @rules_rocm_python//tools/fetch/lock -- lock`"
        )
        for text, message in (
            ("{", "expected a JSON object"),
            ('{"version": 2}', "version is 2; expected 1"),
            ('{"version": 1}', "archives is None; expected a list"),
        ):
            path.write_text(text)
            self.refused(f"{LOCK}: {message}")
        self.lock()
        self.edit(sha256="banana")
        self.refused(f"{LOCK}: archives:", "is not like")
        built(self.workspace.build("//packaging:core_plan", options=("--repo_env=ROCM_ARTIFACTS=",)))


if __name__ == "__main__":
    os.umask(0o022)
    unittest.main(verbosity=2)
