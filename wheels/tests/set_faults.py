"""Faults between wheels: libraries that the loader does not find, and paths with two owners."""

from develop.testing.elf_sample import Sample
from wheels.tests.editing import EditedSet, EditedWheel
from wheels.tests.faults import fault
from wheels.tests.libraries import using, versioned, with_needed, with_search_path, with_section
from wheels.tests.planted_set import DEVEL, LIBRARIES, add_library, small_wheel, unmirror

BLAS = f"{LIBRARIES}/lib/libhipblas.so.3"
PLUGIN = f"{LIBRARIES}/lib/rand/librand_plugin.so"
LAUNCHER = "_rocm_sdk_core/bin/hipconfig-7"
LAUNCHED = "_rocm_sdk_core/bin/hipconfig"
SYSDEP = "lib/rocm_sysdeps/lib/librocm_sysdeps_liblzma.so"


@fault("S101", "a library is removed from the set", file="lib/libhsa-runtime64.so.1")
def _(edited: EditedSet) -> None:
    files = edited.wheel("rocm_sdk_core").files
    del files[f"_rocm_sdk_core/{SYSDEP}.5"], files[f"_rocm_sdk_core/{SYSDEP}"]
    unmirror(edited, f"{SYSDEP}.5", f"{SYSDEP}.5.8.1")


@fault("S101", "a library needs what nobody has", "rocm_sdk_libraries", BLAS)
def _(edited: EditedSet) -> None:
    files = edited.wheel("rocm_sdk_libraries").files
    files[BLAS] = with_needed(files[BLAS], "librocblas.so.5", "libnobodys.so.2")


@fault("S101", "RPATH entries are dropped", "rocm_sdk_libraries", PLUGIN)
def _(edited: EditedSet) -> None:
    files = edited.wheel("rocm_sdk_libraries").files
    files[PLUGIN] = with_search_path(files[PLUGIN], ["$ORIGIN"])


@fault("S103", "RPATH entries are dropped of a library with a forwarder", "rocm_sdk_core", "lib/libhiprtc.so.7")
def _(edited: EditedSet) -> None:
    files, path = edited.wheel("rocm_sdk_core").files, "_rocm_sdk_core/lib/libhiprtc.so.7"
    files[path] = with_search_path(files[path], ["$ORIGIN/llvm/lib"])


@fault("S101", "a program of the development tree needs what nobody has", "rocm_sdk_devel", "bin/checker")
def _(edited: EditedSet) -> None:
    program = Sample(soname=None, needed=("libgone.so",), interpreter="/lib64/ld-linux-x86-64.so.2").build()
    edited.wheel("rocm_sdk_devel").files[f"{DEVEL}/bin/checker"] = program


@fault("S102", "a library is only in a package for one GPU", "rocm_sdk_libraries", "librand_plugin.so")
def _(edited: EditedSet) -> None:
    libraries, path = edited.wheel("rocm_sdk_libraries"), f"{LIBRARIES}/lib/libhiprand.so.1"
    del libraries.files[f"{LIBRARIES}/lib/libhiprand.so"]
    edited.wheel("rocm_sdk_device_gfx942").files[path] = libraries.files.pop(path)


@fault("S102", "a requirement is left out", "rocm_profiler", "lib/librocprof-sys.so.1")
def _(edited: EditedSet) -> None:
    edited.wheel("rocm_profiler").replace("METADATA", "Requires-Dist: rocm-sdk-core==7.10.0.dev0\n", "")


@fault("S103", "a library is found only on behalf of its user", "rocm_sdk_libraries", "lib/libmiddle.so")
def _(edited: EditedSet) -> None:
    add_library(edited, "lib/private/libinner.so", Sample(soname="libinner.so").build())
    add_library(edited, "lib/libmiddle.so", Sample(soname="libmiddle.so", needed=("libinner.so",)).build())
    outer = using("libouter.so", "libmiddle.so", (), "$ORIGIN:$ORIGIN/private")
    add_library(edited, "lib/libouter.so", outer)


@fault("S111", "a library of an older version", "rocm_sdk_libraries", "lib/libuser.so.1")
def _(edited: EditedSet) -> None:
    edited.wheel("rocm_sdk_libraries").files[f"{LIBRARIES}/lib/libmath.so.1"] = versioned("libmath.so.1", ("MATH_1",))


@fault(
    "S177", "another library of the SONAME in a package of another maker's", "rocm_sdk_core", "libhsa-runtime64.so.1"
)
def _(edited: EditedSet) -> None:
    edited.wheel("native").files["native/libhsa-runtime64.so.1"] = Sample(soname="libhsa-runtime64.so.1").build()


@fault("S177", "another library in a package for the same GPU", "other_gfx942", "libfast.so.1")
def _(edited: EditedSet) -> None:
    for number, name in enumerate(("one_gfx942", "other_gfx942", "one_gfx1100")):
        edited.add(kernels_for(name, Sample(soname="libfast.so.1", zeros=number)))


def kernels_for(name: str, library: Sample) -> EditedWheel:
    """Return a wheel with a library, and with a second library that needs the first."""
    user = Sample(soname=f"lib{name}.so.1", needed=(library.soname or "",), rpath="$ORIGIN").build()
    files = {f"{name}/__init__.py": b"", f"{name}/libfast.so.1": library.build(), f"{name}/lib{name}.so.1": user}
    return small_wheel(name, files, "py3-none-manylinux_2_17_x86_64")


@fault("S121", "an equal file in two packages", "tool", "other/__init__.py")
def _(edited: EditedSet) -> None:
    edited.wheel("tool").files["other/__init__.py"] = edited.wheel("other").files["other/__init__.py"]


@fault("S121", "another file at a path of the libraries", "rocm_sdk_libraries", "Kernels_gfx942.dat")
def _(edited: EditedSet) -> None:
    path = "lib/rocblas/library/Kernels_gfx942.dat"
    add_library(edited, path, b"other kernels")


@fault(
    "S121", "a path that the development archive unpacks to", "rocm_sdk_devel", f"{DEVEL}/include/rocprim/rocprim.hpp"
)
def _(edited: EditedSet) -> None:
    edited.archive_devel()
    edited.wheel("tool").files[f"{DEVEL}/include/rocprim/rocprim.hpp"] = b"#pragma once\n"


@fault("S121", "a path where the development tree has a link", "rocm_sdk_devel", f"{DEVEL}/lib/librocblas.so.5")
def _(edited: EditedSet) -> None:
    edited.wheel("tool").files[f"{DEVEL}/lib/librocblas.so.5"] = b"text"


@fault("S123", "two packages with one command", "tool")
def _(edited: EditedSet) -> None:
    scripts = b"[console_scripts]\nrocminfo = tool:main\n"
    edited.wheel("tool").files["tool-1.0.dist-info/entry_points.txt"] = scripts


@fault("S141", "a library that opens what nobody has", "native", "native/libnative.so")
def _(edited: EditedSet) -> None:
    path = "native/libnative.so"
    files = edited.wheel("native").files
    files[path] = with_section(files[path], ".rodata", b"a text\0libplugin_gone.so.4\0")


@fault("S124", "a launcher starts what is not executable", "rocm_sdk_core", LAUNCHER)
def _(edited: EditedSet) -> None:
    edited.wheel("rocm_sdk_core").modes[LAUNCHED] = 0o100644


@fault("S124", "a launcher starts what is not there", "rocm_sdk_core", LAUNCHER)
def _(edited: EditedSet) -> None:
    core = edited.wheel("rocm_sdk_core")
    assert core.files[LAUNCHER].count(b"hipconfig\0") == 1
    core.files[LAUNCHER] = core.files[LAUNCHER].replace(b"hipconfig\0", b"hipconfiG\0")
