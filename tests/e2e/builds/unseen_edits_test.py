"""Edits that keep a file's size and mtime, under a running server: the next build has them, and no cache is harmed.

    .ci/run unseen-edits

Bazel tells such a file from the one before by its inode and ctime, which its native library reads. Each edit is to an
artifact of its own, with a file added beside it, so that the pack action runs again whether or not Bazel sees the
edit. If it does not, the result is stored under the digest of the old content, and whoever shares the cache gets it. So
it is if an edit comes after Bazel has digested the file, and before pack reads it.
"""

import os
import shutil
import subprocess
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.builds.counted import RUN, lay_out
from tests.e2e.testing.builds import WORKSPACE, Build, Workspace, built
from tests.e2e.testing.nginx import put_nginx_on_path
from tests.remote.http_cache import http_cache

#: The mtime of each file, in seconds since 1970.
CLAMPED = 315532800
VERSION = f"7.10.0.dev{RUN}"
UNGUARDED = "--noexperimental_guard_against_concurrent_changes"
WITHOUT_WORKERS = "--spawn_strategy=sandboxed"


def write(path: Path, content: bytes) -> None:
    """Write a file with the one mtime that all have."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (CLAMPED, CLAMPED))


def prepared(file: Path, content: bytes) -> Path:
    """Return another file with that content, outside of the artifacts."""
    other = file.parents[3].with_name("prepared") / file.name
    write(other, content)
    return other


def tar(file: Path, content: bytes) -> None:
    """Unpack an archive with clamped times over it."""
    other = prepared(file, content)
    archive = other.with_suffix(".tar")
    subprocess.run(["tar", "-cf", archive, "-C", other.parent, other.name], check=True)
    subprocess.run(["tar", "-xf", archive, "-C", file.parent], check=True)


def copy(file: Path, content: bytes) -> None:
    """Copy into it, as `cp -p` does: the inode stays."""
    subprocess.run(["cp", "-p", prepared(file, content), file], check=True)


def rename(file: Path, content: bytes) -> None:
    """Rename another one to it, as `rsync -a` and `mv` do."""
    prepared(file, content).replace(file)


def swap_directories(file: Path, content: bytes) -> None:
    """Swap its directory with another one, which has a file of that name with other content."""
    other = file.parents[3].with_name(f"swapped {file.parents[3].name}") / file.name
    shutil.copytree(file.parent, other.parent)
    write(other, content)
    file.parent.rename(other.parent.with_name("old"))
    other.parent.rename(file.parent)


def retarget_artifact(file: Path, content: bytes) -> None:
    """Retarget the link that an artifact is, as `ln -sfn v2 ARTIFACT` does."""
    artifact = file.parents[2]
    version = artifact.parents[1] / f"v2-{artifact.name}"
    shutil.copytree(artifact, version, copy_function=shutil.copy2)
    write(version / file.relative_to(artifact), content)
    subprocess.run(["ln", "-sfn", version, artifact], check=True)


def disk_cache(directory: Path) -> str:
    """Return the option for a disk cache in a directory."""
    return f"--disk_cache={directory}/cache"


#: An artifact for each.
EDITS: dict[str, Callable[[Path, bytes], None]] = {
    "core-amdsmi": tar,
    "core-hip": copy,
    "core-hipinfo": rename,
    "core-kpack": swap_directories,
    "core-ocl": retarget_artifact,
}


def path_of(artifact: str) -> str:
    """Return the path of the file that is edited, in the directory of artifacts."""
    return f"{artifact}_lib_generic/stage/{artifact}/data.txt"


def contents(when: str, how: str) -> dict[str, bytes]:
    """Return what the files hold: the same size always, and never the same content as in another test or run."""
    return {artifact: f"{RUN} {artifact} {how} {when}\n".encode() for artifact in EDITS}


@dataclass(frozen=True)
class Sdk:
    """Artifacts in a directory, and the option that names a cache, which others share."""

    directory: Path
    cache: str

    def lay_out(self, now: dict[str, bytes]) -> None:
        """Write artifacts with that content; the last one is a link to a directory beside them."""
        lay_out(self.directory, {path_of(artifact): b"" for artifact in now})
        for artifact, content in now.items():
            write(self.directory / path_of(artifact), content)
        linked = self.directory / "core-ocl_lib_generic"
        linked.rename(self.directory.with_name(f"v1-{linked.name}-{self.directory.name}"))
        linked.symlink_to(self.directory.with_name(f"v1-{linked.name}-{self.directory.name}"))

    def add(self, name: str = "added.txt") -> None:
        """Add a file to each artifact, so that it is packed again in any case."""
        for artifact in EDITS:
            write((self.directory / path_of(artifact)).with_name(name), b"added\n")

    def build(self, *options: str) -> Build:
        """Build the package."""
        own = (f"--//packaging:version={VERSION}", "--disk_cache=", self.cache, *options)
        return built(Workspace(artifacts=self.directory).build("//packaging:core_wheel", options=own))

    def built(self, *options: str) -> dict[str, bytes]:
        """Build the package; return what the files hold in its wheel."""
        self.build(*options)
        return self.read()

    def read(self) -> dict[str, bytes]:
        """Return what the files hold in the wheel."""
        (wheel,) = (WORKSPACE / "bazel-bin/packaging").glob(f"rocm_sdk_core-{VERSION}-*.whl")
        with zipfile.ZipFile(wheel) as opened:
            return {artifact: opened.read(f"_rocm_sdk_core/{artifact}/data.txt") for artifact in EDITS}


@pytest.fixture
def places(tmp_path: Path) -> tuple[Sdk, Sdk]:
    """Return two directories of artifacts with one cache."""
    one, two = (Sdk(tmp_path / name / "artifacts", disk_cache(tmp_path)) for name in ("one", "two"))
    return one, two


@pytest.mark.parametrize("how", [(), (WITHOUT_WORKERS,)], ids=["workers", "sandbox"])
def test_edits_of_equal_size_and_time_are_built(places: tuple[Sdk, Sdk], how: tuple[str, ...]) -> None:
    edited, untouched = places
    before, after = (contents(when, f"by {len(how)}") for when in ("old", "new"))
    for sdk in places:
        sdk.lay_out(before)
    assert edited.built(*how) == before
    for artifact, edit in EDITS.items():
        file = edited.directory / path_of(artifact)
        edit(file, after[artifact])
        assert (file.stat().st_size, file.stat().st_mtime) == (len(before[artifact]), CLAMPED), artifact
    for sdk in places:
        sdk.add()
    assert edited.built(*how) == after
    assert untouched.built(*how) == before, "the cache has foreign bytes under the digests of the old content"


@contextmanager
def edited_while_built(sdk: Sdk, after: dict[str, bytes]) -> Iterator[None]:
    """Edit each file while the package is planned: Bazel has digested the files, and pack has not read them."""
    ended = threading.Event()

    def edit() -> None:
        # Bazel removes the plan of the build before as soon as it plans.
        with open(WORKSPACE / "bazel-bin/packaging/core.plan.json", "rb") as plan:
            while os.fstat(plan.fileno()).st_nlink and not ended.wait(0.0005):
                pass
        if not ended.is_set():
            for artifact, edit in EDITS.items():
                edit(sdk.directory / path_of(artifact), after[artifact])

    thread = threading.Thread(target=edit)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def caches(kind: str, directory: Path) -> Iterator[str]:
    """Yield the option for an empty cache."""
    if kind == "disk":
        yield disk_cache(directory)
        return
    put_nginx_on_path(directory / "nginx")
    with http_cache(directory / "http") as server:
        yield f"--remote_cache={server.url}"


@pytest.mark.parametrize("kind", ["disk", "http"])
@pytest.mark.parametrize("options", [(), (UNGUARDED,)], ids=["guarded", "unguarded"])
def test_edits_during_a_build_reach_no_cache(tmp_path: Path, kind: str, options: tuple[str, ...]) -> None:
    """Without the option of .bazelrc they do: ROCM_RACES=20 says how often."""
    raced = foreign = 0
    with caches(kind, tmp_path) as cache:
        first = Sdk(tmp_path / "first/artifacts", cache)
        first.lay_out(contents("old", "first"))
        first.built()
        for number in range(int(os.environ.get("ROCM_RACES", "1"))):
            edited, untouched = (Sdk(tmp_path / f"{name} {number}/artifacts", cache) for name in ("one", "two"))
            before, after = (contents(when, f"in race {number}, {options}, {kind}") for when in ("old", "new"))
            for sdk in (edited, untouched):
                sdk.lay_out(before)
                sdk.add(f"added {number}.txt")  # so that the package is planned
            with edited_while_built(edited, after):
                build = edited.build(*options)
            hits = sum(content == after[artifact] for artifact, content in edited.read().items())
            warned = build.output.count("because of concurrent modifications")
            assert warned == (0 if options else hits)
            raced += hits
            assert edited.built(*options) == after
            # Between these two, the output base has forgotten what the race made.
            foreign += sum(content != before[artifact] for artifact, content in untouched.built(*options).items())
    print(f"{kind}: of {raced} files that were edited before pack read them, {foreign} are cached under the old digest")
    assert raced
    assert foreign == (raced if options else 0)


def test_a_server_without_its_native_library_warns() -> None:
    """It cannot be loaded from a directory for temporary files that is not there. Another server takes its place.

    With BLAKE3, which that library computes, Bazel does not even start: "Not a valid hash function".
    """
    without = ("--host_jvm_args=-Djava.io.tmpdir=/not/there", "--digest_function=SHA256")
    for startup, warns in ((without, True), ((), False)):
        workspace = Workspace(startup=startup)
        for times in (warns, False):
            output = workspace.build("//packaging:core_plan", options=("--nobuild",)).output
            assert ("runs without its native library" in output) == times
            assert ("remedy: `startup --host_jvm_args=-Djava.io.tmpdir=" in output) == times


def test_a_retargeted_link_to_the_directory_is_built(tmp_path: Path) -> None:
    """As `ln -sfn v2 current` does."""
    versions = {name: Sdk(tmp_path / name, disk_cache(tmp_path)) for name in ("v1", "v2")}
    for name, sdk in versions.items():
        sdk.lay_out(contents("old" if name == "v1" else "new", "at the top"))
    current = Sdk(tmp_path / "current", disk_cache(tmp_path))
    for name, when in (("v1", "old"), ("v2", "new"), ("v1", "old")):
        subprocess.run(["ln", "-sfn", name, current.directory], check=True)
        assert current.built() == contents(when, "at the top")
