"""Versions, layouts and targets, through real builds: what is built again, what comes out, and what is refused.

    .ci/run versions

Run it from the top of the workspace; it needs nothing else. That a release is its candidate byte by byte is for
//tests/integration:restamp_test; here it is shown that nothing of the bulk is even looked at for it.
"""

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from develop.testing.elf_sample import Sample
from tests.e2e.builds.counted import BIG, lay_out
from tests.e2e.testing.builds import WORKSPACE, Build, Workspace, built, copy_workspace

#: Part of every package, so that no cache has an answer from an earlier run.
MARK = os.urandom(16)
FILES = {
    "blas_dev_generic/stage/include/blas.h": MARK,
    "blas_lib_generic/stage/lib/libblas.so.1": Sample(soname="libblas.so.1", tail=MARK).build(),
    "blas_lib_generic/stage/lib/libsolver.so.1": Sample(
        soname="libsolver.so.1", needed=("libhip.so.1",), tail=BIG + MARK
    ).build(),
    "blas_lib_gfx1100/stage/lib/blas/kernels_gfx1100.co": MARK,
    "blas_lib_gfx942/stage/lib/blas/kernels_gfx942.co": MARK,
    "core-hip_lib_generic/stage/lib/libhip.so.1": Sample(soname="libhip.so.1", tail=MARK).build(),
    "core-hip_lib_generic/stage/lib/libcompiler.so.1": Sample(soname="libcompiler.so.1", tail=BIG + MARK).build(),
    "base_lib_generic/stage/share/therock/therock_manifest.json": b'{"flags": {"KPACK_SPLIT_ARTIFACTS": true}}',
}
#: Of a package that is looked at, planned or packed.
BULK = ("RocmInspect", "RocmPlan", "RocmPack")
CANDIDATE = ("--config=prerelease", "--//packaging:version_serial=2")


@dataclass(frozen=True)
class Sdk:
    """An SDK, of which a part was built before, with other options."""

    workspace: Workspace

    def build(self, options: Sequence[str], target: str = "//packaging:all_wheels") -> Build:
        """Build every distribution."""
        return built(self.workspace.build(target, options=tuple(options)))

    def refused(self, *options: str) -> str:
        """Return what a build says that has to fail."""
        build = self.workspace.build("//packaging:all_wheels", options=options)
        assert not build.succeeded
        return build.output

    def names(self, options: Sequence[str]) -> list[str]:
        """Return the names of all distributions, by what the index says; the index is built for it."""
        self.build(options, "//packaging:dist")
        dist = self.workspace.directory / "bazel-bin/packaging/dist"
        return sorted(path.name for path in dist.iterdir() if path.name.endswith((".whl", ".tar.gz")))


@pytest.fixture(scope="module")
def sdk() -> Iterator[Sdk]:
    """Lay the artifacts out and build the candidate of a release."""
    with tempfile.TemporaryDirectory(prefix="rocm-artifacts-") as holder:
        lay_out(Path(holder), FILES)
        one = Sdk(Workspace(artifacts=Path(holder)))
        one.build(CANDIDATE)
        yield one


def test_a_release_is_made_of_its_candidate_without_a_look_at_the_bulk(sdk: Sdk) -> None:
    """Only metadata is made, and archives are put together."""
    sdk.build(CANDIDATE)
    ran = sdk.build(["--config=release"])
    assert not [action for mnemonic in BULK for action in ran.ran(mnemonic)]
    linked = [action.output.rpartition("/")[2].partition("-")[0] for action in ran.ran("RocmLink")]
    distributions = ["core", "devel", "device_gfx1100", "device_gfx942", "libraries"]
    assert linked == [f"rocm_sdk_{name}" for name in distributions]


def test_a_suffix_packs_only_what_names_another_tree(sdk: Sdk) -> None:
    """RPATHs of core lead to core, wherever that is; RPATHs of the libraries name core's tree."""
    sdk.build(CANDIDATE)
    ran = sdk.build([*CANDIDATE, "--//packaging:version_suffix=7_10"])
    assert not ran.ran("RocmInspect")
    assert {action.label.partition(":")[2] for action in ran.ran("RocmPlan")} >= {"core", "libraries", "devel"}
    packed = {action.output.partition(".segments/")[2] for action in ran.ran("RocmPack")}
    assert not [output for output in packed if output.startswith("core-hip_lib_generic/big/")], packed
    assert [output for output in packed if output.startswith("blas_lib_generic/big/")], packed


def test_each_kind_of_version_has_its_config(sdk: Sdk) -> None:
    """The date of a nightly is the commit's, if nothing else is said."""
    git = ["git", "log", "-1", "--format=%cd", "--date=format-local:%Y%m%d"]
    date = subprocess.run(git, cwd=WORKSPACE, env=os.environ | {"TZ": "UTC0"}, capture_output=True, text=True)
    for options, version in {
        ("--config=dev",): "7.10.0.dev0",
        ("--config=dev", "--//packaging:version_serial=efed3c3"): "7.10.0.dev0+gefed3c3",
        ("--config=nightly",): f"7.10.0a{date.stdout.strip()}",
        ("--config=nightly", "--//packaging:version_serial=20251021"): "7.10.0a20251021",
        CANDIDATE: "7.10.0rc2",
        ("--config=release",): "7.10.0",
        ("--config=release", "--//packaging:version=7.10.1.post1"): "7.10.1.post1",
    }.items():
        sdk.build(options, "//packaging:version")
        assert (WORKSPACE / "bazel-bin/packaging/version.txt").read_text() == version + "\n"


def test_targets_select_packages(sdk: Sdk) -> None:
    """Packages for other targets are not built, and no extra asks for them."""
    names = sdk.names(["--config=release", "--repo_env=ROCM_TARGETS=gfx94X-dcgpu"])
    assert [name for name in names if "device" in name] == ["rocm_sdk_device_gfx942-7.10.0-py3-none-linux_x86_64.whl"]
    names = sdk.names(["--config=release", "--repo_env=ROCM_TARGETS=gfx110X,gfx942"])
    assert len([name for name in names if "device" in name]) == 2


def test_what_the_artifacts_are_not_is_refused(sdk: Sdk) -> None:
    """The error says what they are, and what to do."""
    output = sdk.refused("--repo_env=ROCM_TARGETS=gfx120X-all")
    assert (
        "ROCM_TARGETS names gfx120X-all, for which there are no artifacts; expected some of gfx1100, gfx942" in output
    )
    output = sdk.refused("--config=family")
    assert "ROCM_LAYOUT=family: the artifacts are of the layout `split`" in output
    assert "leave out --config=family" in output
    thin = sdk.refused("--config=thin", "--repo_env=ROCM_TARGETS=gfx1100")
    assert "ROCM_LAYOUT=thin: the artifacts are of the layout `split`" in thin
    assert "ROCM_LAYOUT=flat: expected one of family, split, thin" in sdk.refused("--repo_env=ROCM_LAYOUT=flat")


def test_the_base_comes_from_a_file() -> None:
    """That the stamp comes from git, tests/e2e/consumer shows."""
    with tempfile.TemporaryDirectory(prefix="rocm-workspace-") as folder:
        copy_workspace(Path(folder))
        workspace = Workspace(directory=Path(folder))
        base = Path(folder, "packaging/version.json")
        try:
            base.write_text('{"rocm-version": "8.1", "release-metadata": {}}')
            built(workspace.build("//packaging:version"))
            assert Path(folder, "bazel-bin/packaging/version.txt").read_text() == "8.1.dev0\n"
            base.write_text('{"rocm-version": "8.1rc1"}')
            wrong = workspace.build("//packaging:version")
            assert 'rocm-version is "8.1rc1"; expected a JSON object like {"rocm-version": "7.10.0"}' in wrong.output
        finally:
            workspace.run("clean", "--expunge")
