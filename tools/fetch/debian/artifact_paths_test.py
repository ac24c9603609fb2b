"""Tests of where paths of Debian packages lie among artifacts."""

import pytest

from tools.fetch.debian.table import RULES, LayoutRule, plain_rule_of, rule_of
from tools.fetch.debian.unpack import (
    artifact_of,
    edited,
    is_text_to_mend,
    licence_path,
    link_goal,
    link_text,
    relocated,
)

LIBRARY = "usr/lib/x86_64-linux-gnu/"


def rule(package: str) -> LayoutRule:
    """Return the rule of a package that has one."""
    found = rule_of(package)
    assert found
    return found


@pytest.mark.parametrize(
    ("package", "artifact"),
    [
        ("libamdhip64-5", "core-hip_lib"),
        ("libamdhip64-6", "core-hip_lib"),
        ("libhiprtc-builtins5", "core-hip_lib"),
        ("libamdhip64-dev", "core-hip_dev"),
        ("hipcc", "core-hip_run"),
        ("libllvm17t64", "amd-llvm_lib"),
        ("libclang1-17t64", "amd-llvm_lib"),
        ("libclang-rt-21-dev", "amd-llvm_dev"),
        ("llvm-17-runtime", "amd-llvm_run"),
        ("llvm-17-linker-tools", None),
        ("rocm-device-libs-21", "amd-llvm_lib"),
        ("libamd-comgr2", "amd-llvm_lib"),
        ("librocblas0", "blas_lib"),
        ("librocblas5t64", "blas_lib"),
        ("libhipsparselt0", "blas_lib"),
        ("libmiopen1", "miopen_lib"),
        ("librocprim-dev", "prim_dev"),
        ("libxml2", "sysdeps_lib"),
        ("libxml2-16", "sysdeps_lib"),
        ("libelf1t64", "sysdeps_lib"),
        ("libdrm-amdgpu1", "sysdeps_lib"),
        ("zlib1g", "sysdeps_lib"),
        ("libc6", None),
        ("libdrm-dev", None),
        ("libstdc++6", None),
        ("librocblas0-tests", None),
        ("clang-format-17", None),
    ],
)
def test_rules(package: str, artifact: str | None) -> None:
    found = rule_of(package)
    assert (f"{found.artifact}_{found.component}" if found else None) == artifact


def test_rules_name_components_and_bases_as_artifacts_do() -> None:
    assert {one.component for one in RULES} == {"dev", "lib", "run"}
    assert all("_" not in one.artifact and one.base.endswith("/stage") for one in RULES)


@pytest.mark.parametrize(
    ("package", "path", "expected"),
    [
        ("librocblas0", LIBRARY + "librocblas.so.0.1", "lib/librocblas.so.0.1"),
        ("librocblas0", "usr/lib/aarch64-linux-gnu/librocblas.so.0.1", "lib/librocblas.so.0.1"),
        ("librocblas0", "lib/x86_64-linux-gnu/librocblas.so.0.1", "lib/librocblas.so.0.1"),
        ("librocblas0", LIBRARY + "rocblas/2.47.0/library/T.dat", "lib/rocblas/2.47.0/library/T.dat"),
        ("librocblas-dev", "usr/include/rocblas/rocblas.h", "include/rocblas/rocblas.h"),
        ("clang-17", "usr/lib/llvm-17/bin/clang", "lib/llvm/bin/clang"),
        ("clang-21", "usr/lib/llvm-21/bin/clang", "lib/llvm/bin/clang"),
        ("clang-17", "usr/lib/cmake/clang-17", "lib/cmake/clang-17"),
        ("rocm-smi", "usr/libexec/rocm_smi/rocm_smi.py", "libexec/rocm_smi/rocm_smi.py"),
        ("hipcc", "usr/bin/hipcc", "bin/hipcc"),
        ("hipcc", "usr/share/man/man1/hipcc.1.gz", None),
        ("hipcc", "usr/share/doc/hipcc/changelog.gz", None),
        ("hipcc", "usr/share/doc", None),
        ("hipcc", "etc/hipcc.conf", None),
        ("libdrm2", LIBRARY + "libdrm.so.2.124.0", "lib/rocm_sysdeps/lib/libdrm.so.2.124.0"),
        ("libdrm2", "lib/x86_64-linux-gnu/libdrm.so.2", "lib/rocm_sysdeps/lib/libdrm.so.2"),
        ("libdrm2", LIBRARY + "libdrm.so.2.debug", None),
        ("libdrm2", "usr/share/libdrm/amdgpu.ids", None),
        ("libsqlite3-0", LIBRARY + "sqlite3/extension.so", None),
    ],
)
def test_relocated(package: str, path: str, expected: str | None) -> None:
    assert relocated(path, rule(package)) == expected


@pytest.mark.parametrize(
    ("package", "name", "target"),
    [
        ("librocblas0", "Kernels.so-000-gfx1010.hsaco", "gfx1010"),
        ("librocblas0", "Kernels.so-000-gfx90a-xnack+.hsaco", "gfx90a"),
        ("librocblas0", "TensileLibrary_gfx906.co", "gfx906"),
        ("librocblas0", "TensileLibrary_Type_SS_Contraction_l_Ailk_Bjlk_Cijk_Dijk_gfx803.dat", "gfx803"),
        ("librocblas0", "TensileLibrary.dat", "generic"),
        ("librocblas0", "TensileLibrary_gfx906_gfx1030.co", "generic"),
        ("librocblas0", "TensileLibrary_gfx906_gfx906-xnack-.co", "gfx906"),
        ("librocblas0", "TensileLibrary_gfx906.co.bak", "generic"),
        ("librocblas0", "TensileLibrary_gfx906_.co", "gfx906"),
        ("librocblas0", "notgfx906.co", "generic"),
        ("libmiopen1", "gfx90a68.kdb", "generic"),
        ("librocblas0", "librocblas_gfx906.so.0", "generic"),
        ("libmiopen1", "gfx1030.kdb", "gfx1030"),
        ("libmiopen1", "gfx908.tn.model", "gfx908"),
        ("librocblas-dev", "gfx906.txt", "generic"),
        ("rocm-device-libs-17", "oclc_isa_version_906.dat", "generic"),
    ],
)
def test_files_for_one_target_go_to_its_artifact(package: str, name: str, target: str) -> None:
    found = rule(package)
    assert artifact_of(LIBRARY + name, found) == f"{found.artifact}_{found.component}_{target}"


@pytest.mark.parametrize(
    ("path", "text", "goal"),
    [
        ("usr/bin/clang-17", "../lib/llvm-17/bin/clang", "usr/lib/llvm-17/bin/clang"),
        ("usr/lib/x.so", "/etc/alternatives/x.so", "etc/alternatives/x.so"),
        ("usr/lib/x.so", "x.so.1", "usr/lib/x.so.1"),
        ("x", "../../y", "y"),
    ],
)
def test_link_goal(path: str, text: str, goal: str) -> None:
    assert link_goal(path, text) == goal


def test_link_text() -> None:
    assert link_text("bin/clang-17", "lib/llvm/bin/clang") == "../lib/llvm/bin/clang"
    assert link_text("lib/libx.so", "lib/libx.so.1") == "libx.so.1"
    assert link_text("llvm", "lib/llvm") == "lib/llvm"


def test_licences_of_each_target_have_a_place_of_their_own() -> None:
    assert licence_path("librocblas0", "blas_lib_generic") == "share/doc/librocblas0/copyright"
    assert licence_path("librocblas0", "blas_lib_gfx90a") == "share/doc/librocblas0-gfx90a/copyright"


MULTIARCH = "usr/lib/x86_64-linux-gnu/cmake/x/x.cmake"
TARGETS = b"""\
# Compute the installation prefix relative to this file.
get_filename_component(_IMPORT_PREFIX "${CMAKE_CURRENT_LIST_FILE}" PATH)
get_filename_component(_realOrig "/usr/lib/x86_64-linux-gnu/cmake/x" REALPATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
  IMPORTED_LOCATION_NONE "${_IMPORT_PREFIX}/lib/x86_64-linux-gnu/libx.so.2"
"""
MOVED_TARGETS = b"""\
# Compute the installation prefix relative to this file.
get_filename_component(_IMPORT_PREFIX "${CMAKE_CURRENT_LIST_FILE}" PATH)
get_filename_component(_realOrig "/usr/lib/cmake/x" REALPATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
  IMPORTED_LOCATION_NONE "${_IMPORT_PREFIX}/lib/libx.so.2"
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TARGETS, MOVED_TARGETS),
        (
            b'get_filename_component(PACKAGE_PREFIX_DIR "${CMAKE_CURRENT_LIST_DIR}/../../../../" ABSOLUTE)',
            b'get_filename_component(PACKAGE_PREFIX_DIR "${CMAKE_CURRENT_LIST_DIR}/../../../" ABSOLUTE)',
        ),
        (
            b'set(_IMPORT_PREFIX "/usr")',
            b'get_filename_component(_IMPORT_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)',
        ),
        (
            b'set(PREFIX "/usr/lib/llvm-17/lib/clang/17")',
            b'set(PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../llvm/lib/clang/17")',
        ),
        (
            b'set_and_check(DIR "${PACKAGE_PREFIX_DIR}/lib/aarch64-linux-gnu" )',
            b'set_and_check(DIR "${PACKAGE_PREFIX_DIR}/lib" )',
        ),
        (b"include(${P}/lib/x86_64-linux-gnu/cmake/x/y.cmake)", b"include(${P}/lib/cmake/x/y.cmake)"),
    ],
)
def test_cmake_files_of_a_multiarch_directory(text: bytes, expected: bytes) -> None:
    assert edited(MULTIARCH, text) == expected


@pytest.mark.parametrize("path", ["usr/lib/llvm-17/lib/cmake/clang/x.cmake", "usr/share/cmake/x/x.cmake"])
def test_cmake_files_that_keep_their_depth(path: str) -> None:
    text = b'get_filename_component(PACKAGE_PREFIX_DIR "${CMAKE_CURRENT_LIST_DIR}/../../../../" ABSOLUTE)'
    assert edited(path, text) == text


def test_scripts() -> None:
    text = b"path = here + '/../../lib/x86_64-linux-gnu/libx.so'\nparent / Path(\"lib/x86_64-linux-gnu/libx.so\")\n"
    expected = b"path = here + '/../../lib/libx.so'\nparent / Path(\"lib/libx.so\")\n"
    assert edited("usr/libexec/x.py", text) == expected
    assert edited("usr/libexec/x.py", b"a triplet, x86_64-linux-gnu, alone") == b"a triplet, x86_64-linux-gnu, alone"


def test_which_files_are_read() -> None:
    assert is_text_to_mend(MULTIARCH)
    assert is_text_to_mend("usr/libexec/rocm_smi/rsmiBindings.py")
    assert not is_text_to_mend("usr/lib/x86_64-linux-gnu/libx.so.1")


@pytest.mark.parametrize(
    ("package", "artifact"),
    [
        ("ffmpeg", "ffmpeg_run"),
        ("libavcodec61", "libavcodec61_lib"),
        ("libavcodec-dev", "libavcodec-dev_dev"),
        ("libstdc++6", None),
        ("libx11-6", None),
    ],
)
def test_artifacts_of_any_sdk(package: str, artifact: str | None) -> None:
    rule = plain_rule_of(package, ("libx11-*", "libstdc++6"))
    assert (rule and f"{rule.artifact}_{rule.component}") == artifact
    assert rule is None or rule.matches(package)
