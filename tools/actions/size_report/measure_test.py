"""Tests of measuring: every byte of a package is counted once, and as what it is."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from develop.testing.size_report_sample import DEVICE, LIBRARY, MB, File, library, other, package, thin, thin_sdk
from lib.common.program import ToolError
from lib.plan.model import Entry, Kind, Treatment
from tools.actions.size_report.measure import (
    NO_TARGET,
    MeasuredPackage,
    file_sizes,
    is_device_file,
    measure,
    target_of_file,
)
from tools.actions.size_report.model import PackageSizes, Sizes

TARGETS = ("gfx1030", "gfx90a:xnack+", "gfx90a:xnack-", "gfx90a", "gfx11-generic")


def only(one: MeasuredPackage) -> PackageSizes:
    """Measure one package."""
    (sizes,) = measure([one]).packages
    return sizes


def test_what_files_are_for() -> None:
    sizes = only(
        package(
            "libraries",
            "rocm_sdk_libraries",
            [
                library("lib/librocblas.so.4", 1000, {"gfx1030": 300, "gfx90a:xnack+": 500}),
                File("bin/tool", 40, {"type": "elf-program", "size": 40}),
                File("lib/rocblas/Kernels_gfx1030.co", 7),
                File("lib/rocblas/Kernels_gfx1030.dat", 5),
                File("lib/kernels.bin", 11, {"type": "gpu-code-object", "size": 11}),
                File("bin/script", 3, {"type": "script", "size": 3}),
            ],
            download=444,
        )
    )
    assert sizes.sizes == Sizes(
        host=240,
        data=8,
        code={"gfx1030": 300, "gfx90a:xnack+": 500},
        files={"(no target)": 11, "gfx1030": 7},
    )
    assert (sizes.distribution, sizes.download, sizes.unsliced) == ("rocm-sdk-libraries", 444, None)
    assert sizes.targets == ("(no target)", "gfx1030", "gfx90a:xnack+")


def test_a_file_of_device_code_for_several_targets() -> None:
    bundle = {"type": "gpu-bundle", "size": 900, "device": {"gfx1030": 300, "gfx90a": 500}}
    whole = File("lib/transform.hsaco", 900, bundle)
    sliced = File("lib/sliced.hsaco", 350, bundle, slice=("gfx1030",), treatment=Treatment.PATCH)
    sizes = only(package("libraries", "rocm_sdk_libraries", [whole, sliced])).sizes
    assert sizes == Sizes(data=150, files={"gfx1030": 600, "gfx90a": 500})


def test_what_pack_makes_is_for_the_host() -> None:
    made = [
        File("bin/clang", 3000, treatment=Treatment.LAUNCHER),
        library("lib/librocblas.so", 500, {"gfx1030": 400}, treatment=Treatment.FORWARDER),
    ]
    assert only(package("core", "rocm_sdk_core", made)).sizes == Sizes(host=3500)


def test_a_forwarder_is_not_sliced_though_its_library_is() -> None:
    made = library("lib/librocblas.so", 500, DEVICE, slice=("gfx1030",), treatment=Treatment.FORWARDER)
    sizes = only(package("libraries_gfx1030", "rocm_sdk_libraries_gfx1030", [made]))
    assert sizes.sizes == Sizes(host=500)
    assert sizes.unsliced is not None
    assert sizes.unsliced.sizes == Sizes(host=500)


def test_what_a_package_does_not_hold_is_not_counted() -> None:
    one = package("core", "rocm_sdk_core", [File("share/a", 5), File("share/b", None, treatment=Treatment.DROP)])
    link = Entry("lib/liba.so", Kind.LINK, Treatment.ALIAS_OF, "sample", "a", target="liba.so.1")
    assert only(replace(one, plan=replace(one.plan, entries=(*one.plan.entries, link)))).sizes == Sizes(data=5)


def test_a_slice_has_the_code_that_its_targets_can_load() -> None:
    device = {"gfx1030": 10, "gfx90a": 20, "gfx90a:xnack+": 30, "gfx10-3-generic": 40, "amdgcnspirv": 50}
    facts = {"type": LIBRARY, "size": 1000, "device": device}
    assert file_sizes("lib/a.so", 200, facts, ("gfx1030",)).code == {
        "gfx1030": 10,
        "gfx10-3-generic": 40,
        "amdgcnspirv": 50,
    }
    assert file_sizes("lib/a.so", 200, facts, ("gfx90a",)).code == {
        "gfx90a": 20,
        "gfx90a:xnack+": 30,
        "amdgcnspirv": 50,
    }
    assert file_sizes("lib/a.so", 200, facts, ("gfx90a:xnack-",)).code == {"gfx90a": 20, "amdgcnspirv": 50}
    assert file_sizes("lib/a.so", 200, facts, ("gfx1030", "gfx90a")).code == device
    assert file_sizes("lib/a.so", 200, facts, ()).code == {}
    assert file_sizes("lib/a.so", 200, facts).code == device


def test_fat_against_thin() -> None:
    core, navi, instinct = measure(thin_sdk()).packages
    assert core.unsliced is None
    assert navi.sizes == Sizes(45 * MB, 1 * MB, {"gfx1030": 350 * MB}, {"gfx1030": 7 * MB})
    assert instinct.sizes.code == {"gfx90a:xnack+": 60 * MB, "gfx90a:xnack-": 50 * MB}
    fat = Sizes(40 * MB, 1 * MB, DEVICE, {"gfx1030": 7 * MB, "gfx90a": 7 * MB})
    for one in (navi, instinct):
        assert one.unsliced is not None
        assert (one.unsliced.sizes, one.unsliced.unknown_files) == (fat, 0)
    assert [one.targets for one in (core, navi, instinct)] == [(), ("gfx1030",), ("gfx90a",)]


def test_a_file_of_another_target_that_no_package_has() -> None:
    sizes = only(thin("gfx1030", ["gfx90a", "gfx1100"], 395 * MB))
    assert sizes.unsliced is not None
    assert sizes.unsliced.sizes.files == {"gfx1030": 7 * MB}
    assert sizes.unsliced.unknown_files == 2


def test_a_file_of_another_target_whose_size_is_a_fact() -> None:
    one = package(
        "libraries_gfx1030",
        "rocm_sdk_libraries_gfx1030",
        [File("share/a", 5), other("lib/K_gfx90a-xnack+.hsaco", {"type": "gpu-code-object", "size": 9})],
    )
    sizes = only(one)
    assert sizes.unsliced is not None
    assert (sizes.unsliced.sizes, sizes.unsliced.unknown_files) == (Sizes(data=5, files={"gfx90a:xnack+": 9}), 0)


def test_compressed_code_is_never_more_than_the_file() -> None:
    facts = {"type": LIBRARY, "size": 100, "device": {"gfx1030": 300, "gfx90a": 100}}
    assert file_sizes("lib/a.so", 100, facts) == Sizes(host=0, code={"gfx1030": 75, "gfx90a": 25})


def test_code_of_another_kind_is_device_code_that_nothing_slices() -> None:
    facts = {"type": LIBRARY, "size": 1000, "device": {"gfx1030": 100, "gfx90a": 200}, "device_kinds": {"CUDA": 300}}
    assert file_sizes("lib/a.so", 800, facts, ("gfx1030",)) == Sizes(host=400, code={"gfx1030": 100, "CUDA": 300})
    sizes = only(package("core", "acme_core", [File("lib/a.so", 1000, {**facts, "device": {}})]))
    assert (sizes.sizes.device, sizes.targets) == (300, ("CUDA",))


def test_dlls_and_programs_of_windows_are_for_the_host() -> None:
    facts = {"type": "pe-library", "size": 1000, "device": {"gfx1030": 100}}
    assert file_sizes("bin/a.dll", 1000, facts) == Sizes(host=900, code={"gfx1030": 100})
    assert file_sizes("bin/a.exe", 50, {"type": "pe-program", "size": 50}) == Sizes(host=50)


def test_missing_documents_are_named() -> None:
    one = package("core", "rocm_sdk_core", [File("share/a", 5)])
    with pytest.raises(ToolError, match="core: no index has share/a, which the plan packs"):
        measure([replace(one, packed={})])
    with pytest.raises(ToolError, match="core: no facts about blas_lib_all/stage/share/a"):
        measure([replace(one, facts={})])


files = st.builds(
    lambda number, size, kind, device, kept: File(
        f"lib/{number}_{'gfx1030.co' if kind == 'co' else kind}",
        size,
        {"type": "data" if kind == "co" else kind, "size": size, "device": device},
        slice=kept,
    ),
    st.uuids(),
    st.integers(0, 10**9),
    st.sampled_from([LIBRARY, "elf-program", "elf-object", "data", "script", "co", "gpu-code-object"]),
    st.dictionaries(st.sampled_from(TARGETS), st.integers(1, 10**9)),
    st.none() | st.sampled_from([("gfx1030",), ("gfx90a",), ("gfx1030", "gfx1100")]),
)


@given(st.lists(files, max_size=6))
def test_every_byte_is_counted_once(every: list[File]) -> None:
    sizes = only(package("libraries", "rocm_sdk_libraries", every)).sizes
    parts: list[Any] = [sizes.host, sizes.data, *sizes.code.values(), *sizes.files.values()]
    assert min(parts) >= 0
    assert sum(parts) == sizes.installed == sum(one.size or 0 for one in every)


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("lib/rocblas/library/TensileLibrary_gfx1030.co", "gfx1030"),
        ("lib/rocblas/library/Kernels.so-000-gfx90a-xnack+.hsaco", "gfx90a:xnack+"),
        ("lib/hipblaslt/library/extop_gfx942_sramecc+_xnack-.co", "gfx942:sramecc+:xnack-"),
        ("share/miopen/db/gfx90a68.kdb", "gfx90a"),
        ("share/miopen/db/gfx103030.kdb", "gfx1030"),
        ("lib/gfx906/gfx1100/a_gfx908.co", "gfx908"),
        ("lib/a_gfx11-generic.co", "gfx11-generic"),
        ("share/kernels.kdb", NO_TARGET),
        ("share/gfxstream.co", NO_TARGET),
        ("share/gfx5.co", "gfx5"),
        ("lib/a_gfx1100_gfx906.co", "gfx1100, gfx906"),
    ],
)
def test_targets_of_names(path: str, target: str) -> None:
    assert target_of_file(path) == target


@pytest.mark.parametrize(
    ("path", "kind", "is_device"),
    [
        ("lib/a.co", "data", True),
        ("lib/a.hsaco", "gpu-code-object", True),
        ("lib/a", "gpu-code-object", True),
        ("share/gfx90a68.kdb", "data", True),
        (".kpack/blas_gfx1030.kpack", "data", True),
        ("lib/TensileLibrary_gfx1030.dat", "data", False),
        ("lib/liba.so.1", "elf-library", False),
    ],
)
def test_device_files(path: str, kind: str, is_device: bool) -> None:
    assert is_device_file(path, kind) is is_device
