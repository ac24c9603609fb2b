"""Packages for Windows beside those for Linux: a change of a DLL costs its own pack and links, and nothing of Linux.

    .ci/run windows-actions

Run it from the top of the workspace; it needs nothing else.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from develop.testing.elf_sample import Sample as ElfSample
from develop.testing.pe_sample import Sample
from tests.e2e.builds.counted import BIG, RUN, Sdk, assert_ran, lay_out, planted
from tests.e2e.testing.builds import WORKSPACE


def dll(name: str, needs: str = "KERNEL32.dll", content: bytes = b"") -> bytes:
    """Make a DLL."""
    sections = ((".blob", content),) if content else ()
    return Sample(name=name, imports=((needs, ("function",)),), sections=sections).build()


MANIFEST = b'{"flags": {"KPACK_SPLIT_ARTIFACTS": true}}'
LINUX = {
    "base_lib_generic/stage/share/therock/therock_manifest.json": MANIFEST,
    "blas_lib_generic/stage/lib/librocblas.so.5": ElfSample(soname="librocblas.so.5").build(),
    f"core-hip_lib_generic/stage/share/hip/run{RUN}": b"7.1\n",
}
WINDOWS = {
    "base_lib_generic/stage/share/therock/therock_manifest.json": MANIFEST,
    "blas_lib_generic/stage/bin/hipblas.dll": dll("hipblas.dll", "rocblas.dll"),
    "blas_lib_generic/stage/bin/rocblas.dll": dll("rocblas.dll", "amdhip64_7.dll", BIG),
    "blas_lib_gfx1100/stage/bin/rocblas/library/kernels.co": b"code",
    "core-hip_lib_generic/stage/bin/amdhip64_7.dll": dll("amdhip64_7.dll"),
    f"core-hip_lib_generic/stage/share/hip/run{RUN}": b"7.1\n",
}


@pytest.fixture(scope="module")
def linux(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sdk]:
    """Build packages of both platforms; each test changes one thing and builds again."""
    directory = tmp_path_factory.mktemp("windows")
    lay_out(directory, WINDOWS)
    with planted(LINUX, f"--repo_env=ROCM_WINDOWS_ARTIFACTS_DIR={directory}") as sdk:
        yield sdk


@pytest.fixture(scope="module")
def windows(linux: Sdk) -> Sdk:
    """Return the artifacts for Windows of the same builds."""
    option = next(one for one in linux.workspace.options if "WINDOWS" in one)
    return Sdk(Path(option.rpartition("=")[2]), linux.workspace)


def digests() -> dict[str, str]:
    """Return the SHA-256 of each wheel for Linux, by its name."""
    wheels = (WORKSPACE / "bazel-bin/packaging").glob("*linux*.whl")
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in wheels if RUN in path.name}


def test_a_big_dll_changed(windows: Sdk) -> None:
    """Its own unit in the package that has it; devel has a link to it."""
    before = digests()
    windows.write("blas_lib_generic/stage/bin/rocblas.dll", dll("rocblas.dll", "amdhip64_7.dll", BIG[::-1]))
    ran = windows.build()
    assert_ran(
        ran,
        RocmInspect=["blas_lib_generic"],
        RocmPack=["windows_libraries"],
        RocmSbom=["windows_libraries_wheel"],
        RocmLink=["windows_libraries_wheel"],
    )
    assert "blas_lib_generic/big/stage/bin/rocblas.dll" in ran.ran("RocmPack")[0].output
    assert len(before) == 3
    assert digests() == before


def test_a_file_for_linux_changed(linux: Sdk) -> None:
    """Nothing of Windows is made again."""
    linux.write("blas_lib_generic/stage/lib/librocblas.so.5", ElfSample(soname="librocblas.so.5", tail=b"more").build())
    labels = {action.label for action in linux.build().actions if action.mnemonic in ("RocmPack", "RocmLink")}
    assert labels
    assert not [label for label in labels if "windows" in label]


def test_without_artifacts_for_windows_nothing_is_new(linux: Sdk) -> None:
    """Packages for Linux are the same bytes whether there are others beside them."""
    before = digests()
    linux.build("--repo_env=ROCM_WINDOWS_ARTIFACTS_DIR=")
    assert digests() == before
