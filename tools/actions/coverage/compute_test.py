"""Tests of what is found out about artifacts: from bundles, from names, and from the targets of artifacts."""

from dataclasses import replace

import pytest

from develop.testing.artifacts import artifact, file, image, library, link, program
from lib.common.program import ToolError
from lib.device.coverage import Coverage
from lib.plan.model import Artifact, Found
from tools.actions.coverage.tool import coverage_of, unread


def fat(path: str, *targets: str, soname: str | None = None) -> Found:
    """Make a library with bundles."""
    found = library(path, soname)
    assert found.facts
    return replace(found, facts=replace(found.facts, device=targets))


def covered(*artifacts: Artifact) -> dict[str, tuple[str, ...]]:
    """Return the table as a dictionary."""
    return dict(coverage_of(artifacts).libraries)


def test_a_library_and_the_files_in_its_directory() -> None:
    found = artifact(
        "blas_lib_gfx-all",
        fat("lib/librocblas.so.5.2", "gfx1030", "gfx90a", soname="librocblas.so.5"),
        link("lib/librocblas.so.5", "librocblas.so.5.2"),
        file("lib/rocblas/library/TensileLibrary_gfx942.dat"),
        file("lib/rocblas/library/TensileLibrary.dat"),
        file("lib/rocblas/library/Kernels.so-000-gfx90a-xnack+.hsaco", "gpu-code-object"),
        file("share/doc/gfx1100.txt"),
        library("lib/libhipblas.so.3", "libhipblas.so.3"),
        file("lib/hipblas/K_gfx1100.co"),
    )
    assert covered(found) == {
        "lib/libhipblas.so.3": ("gfx1100",),
        "lib/librocblas.so.5": ("gfx1030", "gfx90a", "gfx90a:xnack+", "gfx942"),
    }


def test_a_name_may_have_more_behind_a_target_that_bundles_name() -> None:
    found = artifact(
        "miopen_lib_gfx-all",
        fat("lib/libMIOpen.so.1", "gfx90a", soname="libMIOpen.so.1"),
        file("share/miopen/db/gfx90a68.kdb"),
        file("share/miopen/db/gfx1030_36.kdb"),
        file("share/miopen/db/gfx90878.db.txt"),
    )
    assert covered(found) == {"lib/libMIOpen.so.1": ("gfx1030", "gfx90a")}


def test_artifacts_of_single_targets_tell_it_of_code_that_does_not() -> None:
    generic = artifact("blas_lib_generic", library("lib/librocblas.so.5", "librocblas.so.5"), file("lib/rocblas/a.dat"))
    single = artifact("blas_lib_gfx942:xnack+", file("lib/rocblas/b.co"), file("lib/rocblas/c.txt"))
    named = artifact("blas_lib_gfx1100", file("lib/rocblas/K_gfx1100.co"), fat("lib/libkernels.so", "gfx1100"))
    assert covered(generic, single, named) == {
        "lib/libkernels.so": ("gfx1100",),
        "lib/librocblas.so.5": ("gfx1100", "gfx942:xnack+"),
    }
    assert covered(artifact("blas_lib_gfx110X-all", file("lib/rocblas/b.co"))) == {}


def test_bundles_by_themselves_belong_to_the_library_and_are_believed_more_than_names() -> None:
    bundle = file("lib/hipblaslt/library/hipblasltTransform_gfx803.hsaco")
    assert bundle.facts
    bundle = replace(bundle, facts=replace(bundle.facts, device=("gfx1100", "gfx90a")))
    found = artifact("blas_lib_gfx-all", library("lib/libhipblaslt.so.1", "libhipblaslt.so.1"), bundle)
    assert covered(found) == {"lib/libhipblaslt.so.1": ("gfx1100", "gfx90a")}


def test_an_archive_says_which_library_its_code_was_split_off() -> None:
    archive = file(".kpack/blas_lib_gfx942.kpack")
    assert archive.facts
    codes = {"stage/lib/librocblas.so.5.2": ("gfx942", "gfx942:xnack+"), "elsewhere/lib/libgone.so": ("gfx942",)}
    generic = artifact(
        "blas_lib_generic",
        library("lib/librocblas.so.5.2", "librocblas.so.5"),
        link("lib/librocblas.so.5", "librocblas.so.5.2"),
    )
    split_off = artifact("blas_lib_gfx942", replace(archive, facts=replace(archive.facts, archive=codes)))
    assert covered(generic, split_off) == {".kpack/": ("gfx942",), "lib/librocblas.so.5": ("gfx942", "gfx942:xnack+")}


def test_what_could_not_be_read_is_said() -> None:
    found = library("lib/liba.so")
    assert found.facts
    damaged = replace(found, facts=replace(found.facts, device_refusal="lib/liba.so: damaged"))
    assert unread([artifact("a_lib_x", damaged, file("lib/b"))]) == ["lib/liba.so: damaged"]


def test_a_library_whose_soname_nothing_has_is_packed_under_its_own_name() -> None:
    assert covered(artifact("a_lib_x", fat("lib/liba.so.1.2", "gfx942", soname="liba.so.1"))) == {
        "lib/liba.so.1.2": ("gfx942",)
    }


def test_target_ids_are_canonical() -> None:
    found = artifact("a_lib_x", fat("lib/liba.so", "gfx90a:xnack+:sramecc+", "amdgcnspirv"))
    assert covered(found) == {"lib/liba.so": ("amdgcnspirv", "gfx90a:sramecc+:xnack+")}


def test_programs_may_have_code_and_host_files_have_none() -> None:
    tests = program("bin/rocblas-bench")
    assert tests.facts
    tests = replace(tests, facts=replace(tests.facts, device=("gfx942",)))
    assert covered(artifact("a_lib_x", tests, program("bin/other"), file("lib/a.so.gfx1030"))) == {
        "bin/rocblas-bench": ("gfx942",)
    }
    assert coverage_of([]) == Coverage()


def test_dlls_and_the_files_in_their_directories() -> None:
    """DLLs lie in `bin`, each beside the directory of its files."""
    found = image("bin/libhipblaslt.dll")
    assert found.facts
    fat_dll = replace(found, facts=replace(found.facts, device=("gfx1100", "gfx1201")))
    tests = image("bin/rocblas-bench.exe", "pe-program")
    assert tests.facts
    fat_program = replace(tests, facts=replace(tests.facts, device=("gfx1201",)))
    files = [image("bin/rocblas.dll"), file("bin/rocblas/library/K_gfx1100.co"), file("bin/hipblaslt/library/b.dat")]
    assert covered(artifact("blas_lib_gfx1101", fat_dll, fat_program, *files)) == {
        "bin/libhipblaslt.dll": ("gfx1100", "gfx1101", "gfx1201"),
        "bin/rocblas-bench.exe": ("gfx1201",),
        "bin/rocblas.dll": ("gfx1100",),
    }


def test_code_for_what_is_no_target() -> None:
    with pytest.raises(ToolError, match=r"a_lib_x/stage/lib/liba\.so: target ID 'sm_70': .* cannot be told which GPUs"):
        coverage_of([artifact("a_lib_x", fat("lib/liba.so", "sm_70"))])
