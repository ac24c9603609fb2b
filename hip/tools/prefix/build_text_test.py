"""The whole BUILD file of a small SDK: a CMake package, the compiler, and a program."""

from pathlib import Path

import pytest

from develop.testing.elf_sample import Sample
from develop.testing.prefix_sample import CMAKE
from hip.tools.prefix.repository import build_text
from tools.fetch.catalog.names import CatalogError

#: What CMake's `install(EXPORT)` writes, in short.
PACKAGE = """
get_filename_component(_IMPORT_PREFIX "${CMAKE_CURRENT_LIST_FILE}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
add_library(hip::amdhip64 SHARED IMPORTED)
set_target_properties(hip::amdhip64 PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "${_IMPORT_PREFIX}/include"
  IMPORTED_LOCATION "${_IMPORT_PREFIX}/lib/libamdhip64.so.7"
  IMPORTED_SONAME "libamdhip64.so.7"
)
add_library(hip::host INTERFACE IMPORTED)
set_target_properties(hip::host PROPERTIES
  INTERFACE_COMPILE_DEFINITIONS "__HIP_PLATFORM_AMD__=1"
  INTERFACE_LINK_LIBRARIES "hip::amdhip64"
)
"""
COMPILER = (
    "lib/llvm/amdgcn/bitcode/ocml.bc",
    "lib/llvm/bin/clang-offload-bundler",
    "lib/llvm/bin/ld.lld",
    "lib/llvm/bin/lld",
    "lib/llvm/bin/llvm-objcopy",
    "lib/llvm/lib/clang/22/include/__clang_hip_runtime_wrapper.h",
)


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """Make the SDK."""
    package = tmp_path / "lib/cmake/hip/hip-config.cmake"
    package.parent.mkdir(parents=True)
    package.write_text(PACKAGE, encoding="utf-8")
    for path in (*COMPILER, "include/hip/hip_runtime.h", "bin/hipcc"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch(mode=0o755)
    (tmp_path / "bin/hipcc").write_bytes(Sample(soname=None, needed=("libamdhip64.so.7",)).build())
    (tmp_path / "lib/llvm/bin/clang").write_bytes(Sample(soname=None, needed=("libhsa-runtime64.so.1",)).build())
    (tmp_path / "lib/llvm/bin/clang").chmod(0o755)
    library = Sample(soname="libamdhip64.so.7", needed=("libhsa-runtime64.so.1", "libc.so.6"), runpath="$ORIGIN")
    (tmp_path / "lib/libamdhip64.so.7").write_bytes(library.build())
    (tmp_path / "lib/libhsa-runtime64.so.1").write_bytes(Sample(soname="libhsa-runtime64.so.1").build())
    return tmp_path


def test_the_whole_file(prefix: Path) -> None:
    text, left_out = build_text(prefix, CMAKE, ["gfx90a", "gfx110X-all"])
    assert text == GOLDEN
    assert left_out == []


def test_without_a_compiler_there_is_no_toolchain(prefix: Path) -> None:
    (prefix / "lib/llvm/bin/clang").unlink()
    text, _ = build_text(prefix, CMAKE, [])
    assert "hip_toolchain(" not in text
    assert '    reason = "the SDK @rocm has no clang for HIP; expected lib/llvm/bin/clang in it. Add' in text
    assert "    build_setting_default = [],\n" in text
    assert 'name = "hip_host"' in text


def test_without_a_runtime_there_is_no_toolchain(prefix: Path) -> None:
    """A compiler alone compiles no HIP program, but may be asked for as a program."""
    (prefix / "lib/cmake/hip/hip-config.cmake").unlink()
    text, _ = build_text(prefix, CMAKE, [])
    assert "hip_toolchain(" not in text
    assert '    reason = "the SDK @rocm has no CMake package hip; expected the HIP runtime. Add' in text
    assert 'program = "prefix/lib/llvm/bin/clang"' in text


def test_a_compiler_without_its_linker(prefix: Path) -> None:
    (prefix / "lib/llvm/bin/lld").unlink()
    with pytest.raises(CatalogError, match="bin/lld: there is no such file, which compiles device code"):
        build_text(prefix, CMAKE, [])


GOLDEN = """\
# Written when this repository was fetched: from the CMake packages, programs and ELF headers in prefix/.

load(
    "@rules_rocm_python//hip:sdk_repository.bzl",
    "hip_no_toolchain",
    "hip_targets",
    "hip_toolchain",
    "rocm_library",
    "rocm_program",
    "rocm_shared_library",
)

package(default_visibility = ["//visibility:public"])

# The GPU targets and families to compile for.
hip_targets(
    name = "targets",
    build_setting_default = [
        "gfx90a",
        "gfx110X-all",
    ],
    option = "@rocm//:targets",
)

filegroup(
    name = "all_headers",
    srcs = glob(
        ["prefix/include/**"],
        allow_empty = True,
    ),
)

rocm_library(
    name = "hip",
    deps = [
        ":hip_amdhip64",
        ":hip_host",
    ],
)

rocm_library(
    name = "hip_amdhip64",
    hdrs = glob(["prefix/include/hip/**"]),
    includes = ["prefix/include"],
    needed = [":lib/libhsa-runtime64.so.1"],
    shared_library = ":lib/libamdhip64.so.7",
)

rocm_library(
    name = "hip_host",
    defines = ["__HIP_PLATFORM_AMD__=1"],
    deps = [":hip_amdhip64"],
)

rocm_shared_library(
    name = "lib/libamdhip64.so.7",
    library = "prefix/lib/libamdhip64.so.7",
    visibility = ["//visibility:private"],
)

rocm_shared_library(
    name = "lib/libhsa-runtime64.so.1",
    library = "prefix/lib/libhsa-runtime64.so.1",
    visibility = ["//visibility:private"],
)

hip_toolchain(
    name = "hip_compiler",
    bundler = "prefix/lib/llvm/bin/clang-offload-bundler",
    clang = "prefix/lib/llvm/bin/clang",
    clang_path = "lib/llvm/bin/clang",
    device_libraries = "lib/llvm/amdgcn/bitcode",
    files = glob([
        "prefix/lib/llvm/lib/clang/22/include/**",
        "prefix/lib/llvm/amdgcn/bitcode/*.bc",
    ]) + [
        "prefix/lib/llvm/bin/ld.lld",
        "prefix/lib/llvm/bin/llvm-objcopy",
    ],
    headers = {
        "hip": "@rocm//:hip",
    },
    libraries = ["prefix/lib/libhsa-runtime64.so.1"],
    lld = "prefix/lib/llvm/bin/lld",
    resource_directory = "lib/llvm/lib/clang/22",
    runtime = ":hip",
    targets = ":targets",
)

rocm_program(
    name = "clang",
    needed = [":lib/libhsa-runtime64.so.1"],
    program = "prefix/lib/llvm/bin/clang",
)

rocm_program(
    name = "clang-offload-bundler",
    program = "prefix/lib/llvm/bin/clang-offload-bundler",
)

rocm_program(
    name = "hipcc",
    needed = [
        ":lib/libamdhip64.so.7",
        ":lib/libhsa-runtime64.so.1",
    ],
    program = "prefix/bin/hipcc",
)
"""
