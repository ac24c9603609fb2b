"""Targets of a prefix: their names, headers, dependencies and needed libraries."""

from dataclasses import replace
from pathlib import Path

import pytest

from develop.testing.device_sample import PREFIX, Part, Sample, bundle
from develop.testing.elf_sample import Sample as ElfSample
from develop.testing.prefix_sample import CMAKE, write_prefix
from hip.tools.prefix.packages import Library, Package, read_packages
from hip.tools.prefix.plan import DeviceData, Target, label_of, plan_shared_libraries, plan_targets, readers
from tools.fetch.catalog.names import CatalogError


def library(name: str, *linked: str, location: str = "") -> Library:
    kind = "interface" if not location else "static" if location.endswith((".a", ".bc")) else "shared"
    return Library(name, kind, location, ("include",), (), (), linked, ())


def package(name: str, *libraries: Library, dependencies: tuple[str, ...] = ()) -> Package:
    return Package(name, libraries, dependencies)


def planned(prefix: Path, *packages: Package) -> dict[str, Target]:
    return {one.name: one for one in plan_targets(prefix, packages)}


@pytest.mark.parametrize("triplet", ["", "x86_64-linux-gnu"])
def test_targets_of_a_prefix(tmp_path: Path, triplet: str) -> None:
    lib = write_prefix(tmp_path, triplet).lib
    targets = planned(tmp_path, *read_packages(tmp_path, CMAKE))
    assert list(targets) == [
        *("hip", "hip_amdhip64", "hip_device", "hip_host"),
        *("hsa-runtime64", "miopen", "rocblas", "rocprim", "rocprim_hip", "rocsolver"),
    ]
    assert targets["hip"] == Target("hip", deps=("hip_amdhip64", "hip_host"))
    assert targets["hip_amdhip64"] == Target(
        "hip_amdhip64",
        hdrs=("include/hip/**",),
        includes=("include",),
        shared_library=f"{lib}/libamdhip64.so.7",
        deps=("hsa-runtime64",),
    )
    assert targets["hip_host"].deps == ("hip_amdhip64",)
    assert (targets["hip_device"].deps, targets["hip_device"].linkopts) == (("hip_host",), ())
    assert targets["hsa-runtime64"].hdrs == ("include/hsa/**",)
    # AMD's libraries have search paths, Debian's have none: programs load what those need.
    assert (targets["hsa-runtime64"].linked if triplet else targets["hsa-runtime64"].needed) == (f"{lib}/libnuma.so.1",)
    assert targets["rocblas"].data == (f"{lib}/rocblas/**",)
    assert targets["rocprim_hip"].deps == ("rocprim", "hip_device")


def test_what_a_library_needs_privately(tmp_path: Path) -> None:
    write_prefix(tmp_path)
    targets = planned(tmp_path, *read_packages(tmp_path, CMAKE))
    # MIOpen's headers need hip alone, its library needs rocBLAS, and so its kernels.
    assert targets["miopen"].deps == ("hip_host",)
    assert targets["miopen"].needed == ("lib/librocblas.so.5",)
    assert targets["miopen"].data == ("lib/rocblas/**", "share/miopen/**")
    assert list(targets["miopen"].data_for) == ["gfx942"]
    assert "gfx9-4-generic" in targets["miopen"].data_for["gfx942"]
    # rocSOLVER's package asks for rocBLAS, which its headers include.
    assert targets["rocsolver"].deps == ("hip", "rocblas")
    assert targets["rocsolver"].needed == ()
    assert targets["rocsolver"].data == ()


def test_a_header_that_cannot_be_read(tmp_path: Path) -> None:
    """The dependencies that it asks for went missing. A link without a file is no header, and includes nothing."""
    (tmp_path / "include/one").mkdir(parents=True)
    header = tmp_path / "include/one/one.h"
    header.symlink_to("missing.h")
    assert planned(tmp_path, package("one", library("one")))["one"].hdrs == ("include/one/**",)
    header.unlink()
    header.symlink_to("one.h")
    with pytest.raises(CatalogError, match=r"^include/one/one\.h: the header cannot be read: Too many levels of symb"):
        planned(tmp_path, package("one", library("one")))


def test_headers_that_include_others(tmp_path: Path) -> None:
    for path, content in {
        "hipblaslt/hipblaslt.h": "#include <hip/hip_runtime.h>\n",
        "hipblaslt-version.h": "",
        "hip/hip_runtime.h": "",
        "hip/hiprtc.h": "",
        "thrust/vector.h": "",
        "other.h": "",
    }.items():
        (tmp_path / "include" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "include" / path).write_text(content, encoding="utf-8")
    targets = planned(
        tmp_path,
        package("hip", library("hip::host")),
        package("hipBLASLt", library("roc::hipblaslt")),
        package("hiprtc", library("hiprtc::hiprtc")),
        package("rocthrust", library("roc::rocthrust")),
        package("strange", library("strange")),
    )
    assert targets["hipblaslt"].hdrs == ("include/hipblaslt-version.h", "include/hipblaslt/**")
    assert targets["hipblaslt"].deps == ("hip",)
    assert targets["hiprtc"].hdrs == ("include/hip/**",)
    assert targets["hiprtc"].deps == ()
    assert targets["rocthrust"].hdrs == ("include/thrust/**",)
    assert targets["strange"].hdrs == (":all_headers",)


def test_a_library_opens_its_parts(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    for name in ("libhiprtc.so.7", "libhiprtc-builtins.so.7", "libhiprtc-builtins.so"):
        (tmp_path / "lib" / name).write_bytes(b"")
    targets = planned(tmp_path, package("hiprtc", library("hiprtc::hiprtc", location="lib/libhiprtc.so.7")))
    assert targets["hiprtc"].linked == ("lib/libhiprtc-builtins.so.7",)


def test_names(tmp_path: Path) -> None:
    assert label_of("hipfft", "hip::hipfftw") == "hipfftw"
    assert label_of("Hip", "hip::amdhip64") == "hip_amdhip64"
    targets = planned(
        tmp_path,
        package("hipFFT", library("hip::hipfft"), library("hip::hipfftw")),
        package("AMDDeviceLibs", library("ocml", location="lib/ocml.bc")),
        package("empty"),
    )
    assert list(targets) == ["hipfft", "hipfftw"]


@pytest.mark.parametrize(
    ("packages", "message"),
    [
        ((package("MIOpen", library("a")), package("miopen", library("b"))), "//:miopen: the package MIOpen and the"),
        ((package("x", library("n::A"), library("m::a")),), "//:x_a: n::A and m::a would both have this name"),
        (
            (package("x", library("n::a"), library("n::xy")), package("xy", library("xy"))),
            "//:xy: n::xy and the package xy would both have this name",
        ),
        ((package("all_headers", library("a")),), "//:all_headers: this repository and the package all_headers"),
    ],
)
def test_names_that_collide(tmp_path: Path, packages: tuple[Package, ...], message: str) -> None:
    with pytest.raises(CatalogError) as caught:
        plan_targets(tmp_path, packages)
    assert str(caught.value).startswith(message)
    assert str(caught.value).endswith("Leave the artifact of the other out")


def test_cycles_are_cut(tmp_path: Path) -> None:
    targets = planned(
        tmp_path,
        package("a", library("n::a", "n::b", "n::c")),
        package("b", library("n::b", "n::c")),
        package("c", library("n::c", "n::a", "n::b")),
    )
    assert {name: target.deps for name, target in targets.items()} == {"a": ("b", "c"), "b": ("c",), "c": ()}


def test_a_needed_path_is_no_file_of_the_prefix(tmp_path: Path) -> None:
    """Otherwise a file of the machine, which happens to be there, would be a label of the repository."""
    sample = write_prefix(tmp_path / "prefix")
    outside = sample.write("lib/libelse.so.1")
    sample.shared("far", str(outside))
    targets = planned(sample.prefix, package("far", library("far::far", location="lib/libfar.so.1")))
    assert targets["far"].needed == ()


def test_another_name_of_a_library_is_no_target(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    alias = Library("foo", "interface", "", (), (), (), ("foo::foo",), ())
    user = package("Bar", library("bar::bar", "foo"))
    targets = planned(tmp_path, package("Foo", alias, library("foo::foo")), user)
    assert (list(targets), targets["bar"].deps) == (["bar", "foo"], ("foo",))
    mutual = replace(library("foo::foo", "foo"), include_directories=())
    assert planned(tmp_path, package("Foo", alias, mutual)) == {}
    with pytest.raises(CatalogError, match="foo and foo::foo would both have this name"):
        planned(tmp_path, package("Foo", library("foo"), library("foo::foo")))


def test_shared_libraries_of_all_targets(tmp_path: Path) -> None:
    writer = write_prefix(tmp_path)
    code = Sample((Part(bundle([(f"{PREFIX}gfx942", b"code")])),)).build()
    writer.write("lib/librocsolver.so.1.0", code)
    targets = plan_targets(tmp_path, read_packages(tmp_path, CMAKE))
    shared = plan_shared_libraries(tmp_path, targets)
    assert list(shared) == [
        *("lib/libMIOpen.so.1", "lib/libamdhip64.so.7", "lib/libhsa-runtime64.so.1", "lib/libnuma.so.1"),
        *("lib/librocblas.so.5", "lib/librocsolver.so.1.0"),  # which has no SONAME now
    ]
    assert [path for path, has_device_code in shared.items() if has_device_code] == ["lib/librocsolver.so.1.0"]


@pytest.mark.parametrize(
    ("runpath", "needed", "linked"),
    [
        ("$ORIGIN/rocm_sysdeps/lib:$ORIGIN", ("lib/libone.so.1", "lib/rocm_sysdeps/lib/libtwo.so.2"), ()),
        ("$ORIGIN/../lib", ("lib/libone.so.1",), ("lib/rocm_sysdeps/lib/libtwo.so.2",)),
        # The machine's own ROCm would come first.
        ("/opt/rocm/lib:$ORIGIN", (), ("lib/libone.so.1", "lib/rocm_sysdeps/lib/libtwo.so.2")),
        ("/opt/rocm/lib", (), ("lib/libone.so.1", "lib/rocm_sysdeps/lib/libtwo.so.2")),
        (None, (), ("lib/libone.so.1", "lib/rocm_sysdeps/lib/libtwo.so.2")),
    ],
)
def test_programs_are_linked_with_what_no_search_path_leads_to(
    runpath: str | None, needed: tuple[str, ...], linked: tuple[str, ...], tmp_path: Path
) -> None:
    """As Debian's MIOpen needs Boost: the loader follows a library's RUNPATH alone, not the program's."""
    samples = {
        "lib/libown.so.1": ElfSample(soname="libown.so.1", needed=("libone.so.1",), runpath="$ORIGIN"),
        "lib/libone.so.1": ElfSample(soname="libone.so.1", needed=("libtwo.so.2",), runpath=runpath),
        "lib/rocm_sysdeps/lib/libtwo.so.2": ElfSample(soname="libtwo.so.2"),
    }
    if "lib/libone.so.1" in linked:
        samples["lib/libown.so.1"] = ElfSample(soname="libown.so.1", needed=("libone.so.1",), runpath=runpath)
    for path, sample in samples.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(sample.build())
    target = planned(tmp_path, package("own", library("own::own", location="lib/libown.so.1")))["own"]
    assert (target.needed, target.linked) == (needed, linked)
    assert target.files == ("lib/libown.so.1", *linked, *needed)


def test_a_part_that_its_library_finds(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/libhiprtc.so.7").write_bytes(ElfSample(soname="libhiprtc.so.7", runpath="$ORIGIN").build())
    (tmp_path / "lib/libhiprtc-builtins.so.7").write_bytes(ElfSample(soname="libhiprtc-builtins.so.7").build())
    target = planned(tmp_path, package("hiprtc", library("hiprtc::hiprtc", location="lib/libhiprtc.so.7")))["hiprtc"]
    assert (target.needed, target.linked) == (("lib/libhiprtc-builtins.so.7",), ())


@pytest.mark.parametrize("is_named_by_its_path", [True, False])
def test_a_library_that_a_dependency_needs_and_finds_is_named(is_named_by_its_path: bool, tmp_path: Path) -> None:
    """What the dependency finds, the loader finds too late for another library, and the linker not at all."""
    (tmp_path / "lib").mkdir()
    runpath = "$ORIGIN" if is_named_by_its_path else None
    samples = {
        "one": ElfSample(soname="libone.so.1", needed=("libthird.so.1",), runpath=runpath),
        "other": ElfSample(soname="libother.so.1", needed=("libthird.so.1",), runpath="$ORIGIN"),
        "third": ElfSample(soname="libthird.so.1"),
    }
    for name, sample in samples.items():
        (tmp_path / f"lib/lib{name}.so.1").write_bytes(sample.build())
    one = library("one::one", "other::other", location="lib/libone.so.1")
    if is_named_by_its_path:
        one = replace(one, files=("lib/libthird.so.1",))
    other = library("other::other", location="lib/libother.so.1")
    targets = planned(tmp_path, package("one", one), package("other", other))
    assert (targets["other"].needed, targets["other"].linked) == (("lib/libthird.so.1",), ())
    assert (targets["one"].needed, targets["one"].linked) == ((), ("lib/libthird.so.1",))


@pytest.mark.parametrize(
    ("constants", "needed"),
    [
        (b"\0libopened.so.3\0", ("lib/libopened.so.3",)),
        (b"\0libLLVM.so.23.0git\0", ("lib/libLLVM.so.23.0git",)),
        (b"libopened.so\0libopened.so.3\0", ("lib/libopened.so.3",)),
        (
            b"libopened.so\0cannot open libopened.so.3\0libown.so.1\0libother.so.9\0/libopened.so.3\0libthird.so.1\0",
            ("lib/libthird.so.1",),
        ),
    ],
)
def test_a_library_that_another_opens(constants: bytes, needed: tuple[str, ...], tmp_path: Path) -> None:
    """What a library opens comes with it, and with programs that depend on it."""
    (tmp_path / "lib").mkdir()
    samples = {
        "libown.so.1": ElfSample(
            soname="libown.so.1", needed=("libthird.so.1",), runpath="$ORIGIN", constants=constants
        ),
        "libopened.so.3": ElfSample(soname="libopened.so.3"),
        "libthird.so.1": ElfSample(soname="libthird.so.1"),
        "libLLVM.so.23.0git": ElfSample(soname="libLLVM.so.23.0git"),
    }
    for name, sample in samples.items():
        (tmp_path / "lib" / name).write_bytes(sample.build())
    (tmp_path / "lib/libopened.so").symlink_to("libopened.so.3")
    target = planned(tmp_path, package("own", library("own::own", location="lib/libown.so.1")))["own"]
    assert target.needed == tuple(sorted({*needed, "lib/libthird.so.1"}))
    (tmp_path / "lib/libown.so.1").write_bytes(replace(samples["libown.so.1"], runpath=None).build())
    target = planned(tmp_path, package("own", library("own::own", location="lib/libown.so.1")))["own"]
    assert target.linked == tuple(sorted({*needed, "lib/libthird.so.1"})), "programs load what no search path leads to"


def test_names_of_files(tmp_path: Path) -> None:
    directory = tmp_path / "lib/rocblas"
    for name in (
        "library/Kernels.so-000-gfx90a-xnack+.hsaco",
        "library/Type_SS_gfx1100.dat",
        "library/fallback_gfx9_generic.co",
        "gfx942/kernels.co",
        "db/gfx90878.kdb",
        "db/gfx9.txt",
        "names.dat",
    ):
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).touch()
    found = DeviceData(tmp_path).readers(["lib/rocblas/**", "share/absent/**"])
    assert list(found) == ["gfx1100", "gfx908", "gfx90a", "gfx942", "gfx9_generic"]
    assert found["gfx90a"] == ("gfx90a",)
    assert found["gfx9_generic"] == readers("gfx9-generic")


@pytest.mark.parametrize(
    ("processor", "expected"),
    [
        ("gfx90a", {"gfx90a"}),
        ("gfx1100", {"gfx11-generic", "gfx1100"}),
        # Programs for gfx1250 may run on what has its code, and the other way round.
        ("gfx1250", {"gfx12-5-generic", "gfx1250", "gfx1250-strict"}),
        ("gfx1250-strict", {"gfx12-5-generic", "gfx1250", "gfx1250-strict"}),
        ("gfx9-generic", {"gfx9-generic", "gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"}),
    ],
)
def test_whose_programs_read_files(processor: str, expected: set[str]) -> None:
    assert set(readers(processor)) == expected
    assert list(readers(processor)) == sorted(expected)
