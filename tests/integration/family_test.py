"""The family layout: one libraries package per family of GPU targets, one devel package for all."""

from pathlib import Path

import pytest
from environment import Environment, is_forwarder

LOAD = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).hipblas_chain())"


@pytest.mark.parametrize(("target", "family"), [("gfx1101", "gfx110X-all"), ("gfx94X-dcgpu", "gfx94X-dcgpu")])
def test_the_family_of_the_target_is_installed_and_works(tmp_path: Path, target: str, family: str) -> None:
    environment = Environment(tmp_path / "environment")
    environment.install("rocm[libraries,devel]", ROCM_SDK_TARGET_FAMILY=target)
    name = family.replace("-", "_")
    assert f"rocm_sdk_libraries_{name}" in environment.distributions()
    library = environment.site_packages / f"_rocm_sdk_libraries_{name}/lib/libhipblas.so.3"
    assert environment.run("python", "-c", LOAD, str(library)) == "5\n"


def test_the_devel_tree_links_the_family_that_is_installed(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "environment")
    environment.install("rocm[libraries,devel]", ROCM_SDK_TARGET_FAMILY="gfx94X-dcgpu")
    root = Path(environment.run("rocm-sdk", "path", "--root").strip())
    installed = environment.site_packages / "_rocm_sdk_libraries_gfx94X_dcgpu/lib/librocblas.so.5"
    assert (root / "lib/librocblas.so.5").stat().st_ino == installed.stat().st_ino
    assert (root / "lib/librocblas.so").resolve() == root / "lib/librocblas.so.5"
    assert not [path for path in root.rglob("*.so") if path.is_file() and is_forwarder(path)]
    assert (root / "include/rocblas/rocblas.h").is_file()
    environment.pip("uninstall", "--yes", *sorted(environment.distributions()))
    assert environment.files() == []
