"""Packages of whole prefixes, in the layouts of AMD and Debian."""

from pathlib import Path

import pytest

from develop.testing.elf_sample import Sample
from develop.testing.prefix_sample import CMAKE, PrefixWriter, library, write_prefix
from hip.tools.prefix.packages import Library, Package, left_out, read_packages, require_libraries
from hip.tools.prefix.shared_libraries import SharedLibraries
from tools.fetch.catalog.names import CatalogError


def packages(prefix: Path) -> dict[str, Package]:
    return {one.name: one for one in read_packages(prefix, CMAKE)}


@pytest.mark.parametrize("triplet", ["", "x86_64-linux-gnu"])
def test_layouts_of_amd_and_debian(tmp_path: Path, triplet: str) -> None:
    writer = write_prefix(tmp_path, triplet)
    found = packages(tmp_path)
    assert list(found) == ["hip", "hsa-runtime64", "miopen", "rocblas", "rocprim", "rocsolver"]
    rocblas = found["rocblas"]
    assert rocblas.dependencies == ("hip",)
    assert rocblas.libraries == (
        Library(
            name="roc::rocblas",
            kind="shared",
            location=f"{writer.lib}/librocblas.so.5",
            include_directories=("include",),
            defines=(),
            compile_options=(),
            libraries=("hip::host",),
            link_options=(),
        ),
    )
    assert found["rocsolver"].libraries[0].link_options == ("-ldl", "-lpthread")
    assert found["rocprim"].libraries[0].include_directories == ("include",)
    assert found["rocprim"].libraries[1].libraries == ("roc::rocprim", "hip::device")


def test_the_runtime(tmp_path: Path) -> None:
    write_prefix(tmp_path)
    hip = packages(tmp_path)["hip"]
    amdhip64, host, device = hip.libraries
    assert hip.dependencies == ("hsa-runtime64", "Threads")
    assert (amdhip64.location, amdhip64.include_directories) == ("lib/libamdhip64.so.7", ("include",))
    assert (host.kind, host.defines, host.libraries) == ("interface", ("__HIP_PLATFORM_AMD__=1",), ("hip::amdhip64",))
    assert (device.compile_options, device.link_options) == (("-x", "hip"), ("--hip-link",))
    assert hip.notes == ()


def test_libraries_that_are_not_installed_are_left_out(tmp_path: Path) -> None:
    writer = PrefixWriter(tmp_path)
    writer.shared("hipfft")
    writer.package("hipfft", library("hip::hipfft", "SHARED") + library("hip::hipfftw", "SHARED"))
    writer.located("hipfft", "hip::hipfft", "hipfft")
    writer.located("hipfft", "hip::hipfftw", "hipfftw")
    writer.write("include/x.h")
    package = packages(tmp_path)["hipfft"]
    assert [one.name for one in package.libraries] == ["hip::hipfft"]
    assert any("hip::hipfftw: its file is not in the prefix: lib/libhipfftw.so.1.0" in note for note in package.notes)


def test_properties_that_only_cmake_or_another_language_knows(tmp_path: Path) -> None:
    writer = PrefixWriter(tmp_path)
    writer.write("include/x.h")
    writer.write("lib/libdep.a")
    writer.write("bin/tool")
    body = library(
        "x", "INTERFACE", "Threads::Threads", "$<$<CXX_COMPILER_ID:GNU>:gcc>", "${_IMPORT_PREFIX}/lib/libdep.a"
    )
    body += """set_target_properties(x PROPERTIES
      INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:HIP>:-fgpu-rdc>;-Wall;-I${_IMPORT_PREFIX}/include"
      INTERFACE_COMPILE_DEFINITIONS "-DA=1;B;$<$<COMPILE_LANGUAGE:HIP>:C>"
      INTERFACE_LINK_OPTIONS "-pthread")
    add_executable(tool IMPORTED)
    set_target_properties(tool PROPERTIES IMPORTED_LOCATION "${_IMPORT_PREFIX}/bin/tool")
    """
    writer.package("x", body)
    package = packages(tmp_path)["x"]
    (found,) = package.libraries
    assert found.compile_options == ("-Wall",)
    assert found.defines == ("A=1", "B")
    assert found.link_options == ("-pthread", "-pthread")
    assert found.files == ("lib/libdep.a",)
    assert left_out([package])[-1] == "x: -Wall, with which its users are compiled: add this to their `copts`"
    assert package.notes == ("lib/cmake/x/x-targets.cmake: x: an option with a path: -I<prefix>/include",)


def test_parts_of_a_package_are_no_packages(tmp_path: Path) -> None:
    writer = PrefixWriter(tmp_path)
    for path in ("rocrand/rocrand-fortran-config", "rocrand/rocrand-config", "llvm/LLVMConfig", "x/Y-config"):
        writer.write(f"lib/cmake/{path}.cmake", "set(A 1)\n")
    writer.write("lib/llvm/lib/cmake/clang/ClangConfig.cmake")
    writer.write("share/tool/cmake/tool-config.cmake")
    assert list(packages(tmp_path)) == ["LLVM", "rocrand", "tool"]


def test_a_package_that_cmake_refuses_is_left_out(tmp_path: Path) -> None:
    writer = write_prefix(tmp_path)
    writer.package("bad", library("bad", "INTERFACE", "$<NO_SUCH:a>"))
    writer.write("lib/cmake/worse/worse-config.cmake", "\nset(A\n")
    found = packages(tmp_path)
    assert [name for name, one in found.items() if not one.is_read] == ["bad", "worse"]
    require_libraries(tmp_path, list(found.values()))
    notes = left_out(list(found.values()))
    assert notes[0].startswith("bad: CMake stops: Error evaluating generator expression: $<NO_SUCH:a>"), notes
    assert notes[1].startswith("worse: CMake stops at lib/cmake/worse/worse-config.cmake:2: Parse error."), notes


def test_no_package_can_be_read(tmp_path: Path) -> None:
    PrefixWriter(tmp_path).write("lib/cmake/x/x-config.cmake", "\nno_such_command()\n")
    with pytest.raises(CatalogError, match=r"x: CMake stops at lib/cmake/x/x-config\.cmake:2: Unknown CMake"):
        require_libraries(tmp_path, read_packages(tmp_path, CMAKE))


def test_a_package_in_two_spellings_is_one(tmp_path: Path) -> None:
    for name in ("FooConfig.cmake", "foo-config.cmake"):
        (tmp_path / "lib/cmake/foo").mkdir(parents=True, exist_ok=True)
        (tmp_path / "lib/cmake/foo" / name).write_text(
            f"add_library({name[:3]}::foo INTERFACE IMPORTED)\n", encoding="utf-8"
        )
    (package,) = read_packages(tmp_path, CMAKE)
    assert (package.name, [one.name for one in package.libraries]) == ("Foo", ["Foo::foo"])


def test_a_soname_that_is_a_path(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/libfoo.so.1").write_bytes(Sample(soname="/opt/foo/libfoo.so.1").build())
    assert SharedLibraries(tmp_path).by_soname("lib/libfoo.so.1") == "lib/libfoo.so.1"
