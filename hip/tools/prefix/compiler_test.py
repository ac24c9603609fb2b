"""Tests of the compiler of an install prefix: where releases have it, and what is said if a part of it is missing."""

import os
from pathlib import Path

import pytest

from develop.testing.elf_sample import Sample
from hip.tools.prefix.build_file import Compiler, find_compiler, toolchain_text
from tools.fetch.catalog.names import CatalogError

#: The parts of a compiler, by the directory of LLVM.
PROGRAMS = ("bin/clang", "bin/lld", "bin/clang-offload-bundler")
WRAPPER = "lib/clang/22/include/__clang_hip_runtime_wrapper.h"
#: Who lays it out -> the directory of LLVM, and the directory of the device libraries.
LAYOUTS = {
    "AMD": ("lib/llvm", "lib/llvm/amdgcn/bitcode"),
    "AMD, until ROCm 5": ("llvm", "amdgcn/bitcode"),
    "AMD, beside the headers": ("lib/llvm", "lib/llvm/lib/clang/22/lib/amdgcn/bitcode"),
    "Debian": ("lib/llvm", "lib/llvm/lib/clang/22/amdgcn/bitcode"),
    "Debian, installed in /usr": ("lib/llvm-22", "lib/llvm-22/lib/clang/22/amdgcn/bitcode"),
    "Fedora": ("lib64/llvm", "lib64/llvm/lib/clang/22/amdgcn/bitcode"),
    "in one directory": ("", "lib/amdgcn/bitcode"),
}


def planted(prefix: Path, *paths: str) -> Path:
    """Make files."""
    for path in paths:
        (prefix / path).parent.mkdir(parents=True, exist_ok=True)
        (prefix / path).touch(mode=0o755)
    return prefix


def parts(llvm: str, device_libraries: str) -> list[str]:
    """Return the files of a compiler."""
    around = f"{llvm}/" if llvm else ""
    return [*(around + one for one in (*PROGRAMS, WRAPPER)), f"{device_libraries}/ocml.bc"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_places_of_releases(layout: str, tmp_path: Path) -> None:
    llvm, device_libraries = LAYOUTS[layout]
    found = find_compiler(planted(tmp_path, *parts(llvm, device_libraries)))
    resources = f"{llvm}/lib/clang/22" if llvm else "lib/clang/22"
    assert found == Compiler(llvm, resources, device_libraries)
    assert (tmp_path / found.program("clang")).exists()


def test_an_sdk_without_a_compiler(tmp_path: Path) -> None:
    assert find_compiler(planted(tmp_path, "lib/libamdhip64.so.7", "bin/hipcc")) is None


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_part_is_needed(layout: str, tmp_path: Path) -> None:
    llvm, device_libraries = LAYOUTS[layout]
    for part in parts(llvm, device_libraries)[1:]:
        prefix = planted(tmp_path / part.replace("/", "_"), *parts(llvm, device_libraries))
        (prefix / part).unlink()
        with pytest.raises(CatalogError) as caught:
            find_compiler(prefix)
        message = str(caught.value)
        assert part.rpartition("/")[2] in message
        assert message.startswith(f"{prefix}/")
        assert "expected it beside clang. Add the artifact that has it (amd-llvm), or install the SDK again" in message


def test_a_link_that_dangles_is_missing(tmp_path: Path) -> None:
    prefix = planted(tmp_path, *parts(*LAYOUTS["AMD"]))
    (prefix / "lib/llvm/bin/lld").unlink()
    (prefix / "lib/llvm/bin/lld").symlink_to("lld-22")
    with pytest.raises(CatalogError, match="bin/lld: there is no such file, which compiles device code"):
        find_compiler(prefix)


def test_of_several_releases_the_newest_counts(tmp_path: Path) -> None:
    wrappers = [WRAPPER.replace("22", release) for release in ("9.0.1", "22", "22.1.0", "3")]
    prefix = planted(tmp_path, *parts("", "amdgcn/bitcode"), *wrappers)
    found = find_compiler(prefix)
    assert found
    assert found.resource_directory == "lib/clang/22.1.0"


def test_of_debians_releases_the_newest_for_hip_counts(tmp_path: Path) -> None:
    older = [path.replace("22", "9") for path in parts(*LAYOUTS["Debian, installed in /usr"])]
    newer = "lib/llvm-23/bin/clang"
    found = find_compiler(planted(tmp_path, *parts(*LAYOUTS["Debian, installed in /usr"]), *older, newer))
    assert found
    assert found.llvm == "lib/llvm-22"


TOOLCHAIN = """\
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
        "prefix/share/hip/version",
    ],
    libraries = [
        "prefix/lib/libz.so.1",
        "prefix/lib/llvm/lib/libLLVM.so.22",
    ],
    lld = "prefix/lib/llvm/bin/lld",
    resource_directory = "lib/llvm/lib/clang/22",
    runtime = ":hip",
    targets = ":targets",
)
"""


def test_the_toolchain(tmp_path: Path) -> None:
    """Its libraries are those that its programs need and the prefix has, and that these need."""
    prefix = planted(tmp_path, *parts(*LAYOUTS["AMD"]), "lib/llvm/bin/ld.lld", "share/hip/version", "lib/libunused.so")
    clang = Sample(soname=None, needed=("libLLVM.so.22", "libc.so.6"), runpath="$ORIGIN/../lib").build()
    (prefix / "lib/llvm/bin/clang").write_bytes(clang)
    library = Sample(soname="libLLVM.so.22", needed=("libz.so.1",), runpath="$ORIGIN/../../").build()
    (planted(prefix, "lib/llvm/lib/libLLVM.so.22") / "lib/llvm/lib/libLLVM.so.22").write_bytes(library)
    (prefix / "lib/libz.so.1").write_bytes(Sample(soname="libz.so.1").build())
    found = find_compiler(prefix)
    assert found
    text = toolchain_text(found, prefix, ":hip")
    assert text == TOOLCHAIN
    assert os.fspath(tmp_path) not in text


def test_a_toolchain_without_what_newer_releases_call(tmp_path: Path) -> None:
    prefix = planted(tmp_path, *parts(*LAYOUTS["AMD"]))
    found = find_compiler(prefix)
    assert found
    text = toolchain_text(found, prefix, ":hip")
    assert '/bitcode/*.bc",\n    ]),\n' in text
    assert "    libraries = [],\n" in text
