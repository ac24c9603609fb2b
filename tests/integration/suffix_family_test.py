"""A version suffix in the family layout: it comes behind the family in the names of trees."""

from pathlib import Path

from environment import Environment


def test_the_packages_of_a_family_work(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "environment")
    environment.install("rocm[libraries,devel,profiler]", ROCM_SDK_TARGET_FAMILY="gfx1101")
    environment.load(environment.site_packages / "_rocm_sdk_libraries_gfx110X_all_7_10/lib/libhipblas.so.3")
    assert ", 0 failed, 0 skipped" in environment.run("rocm-sdk", "test").splitlines()[-1]
    assert {path.name for path in environment.site_packages.glob("_rocm*")} == {
        "_rocm_profiler_7_10",
        "_rocm_sdk_core_7_10",
        "_rocm_sdk_devel_7_10",
        "_rocm_sdk_libraries_gfx110X_all_7_10",
    }
    assert (environment.site_packages / "_rocm_sdk_devel_7_10/lib/librocblas.so").exists()
    environment.pip("uninstall", "--yes", *sorted(environment.distributions()))
    assert environment.files() == []
