"""Faults of a release: what the last one had, which is the set without faults."""

from dataclasses import replace

from develop.testing.device_windows import windows_library
from develop.testing.elf_sample import Sample
from wheels.tests.editing import EditedSet
from wheels.tests.faults import fault
from wheels.tests.libraries import offload_bundle
from wheels.tests.planted_set import DEVEL, TARGETS, WINDOWS_BASE, WINDOWS_MATH

NATIVE = "native/libnative.so"


@fault("R101", "a distribution is gone", "other-1.0", released=True)
def _(edited: EditedSet) -> None:
    edited.remove("other")


@fault("R102", "a SONAME is another", "native-1.0", NATIVE, released=True)
def _(edited: EditedSet) -> None:
    files = edited.wheel("native").files
    del files[NATIVE]
    files[f"{NATIVE}.2"] = Sample(soname="libnative.so.2").build()


@fault("R103", "a library lacks a symbol", "native-1.0", NATIVE, released=True)
def _(edited: EditedSet) -> None:
    edited.wheel("native").files[NATIVE] = Sample(soname="libnative.so", symbols=("another",)).build()


@fault("R103", "a DLL no longer exports a function", "win_base", "bin/base_1.dll", released=True)
def _(edited: EditedSet) -> None:
    data = replace(WINDOWS_BASE, exports=("function", "another")).build()
    edited.wheel("win_base").files["_win_base/bin/base_1.dll"] = data


@fault("R104", "a header is gone", "rocm_sdk_devel", f"{DEVEL}/include/rocprim", released=True)
def _(edited: EditedSet) -> None:
    del edited.wheel("rocm_sdk_devel").files[f"{DEVEL}/include/rocprim/rocprim.hpp"]


@fault("R105", "a requirement is new", "tool-1.0", released=True)
def _(edited: EditedSet) -> None:
    edited.wheel("tool").replace("METADATA", "\nSummary:", "\nRequires-Dist: other\nSummary:")


@fault("R106", "a file is in another distribution", "other-1.0", "tool", released=True)
def _(edited: EditedSet) -> None:
    files = edited.wheel("tool").files
    edited.wheel("other").files["tool/__init__.py"] = files.pop("tool/__init__.py")
    files["tool/other.py"] = b""


@fault("R107", "a DLL lacks code for one GPU", "win_math", "bin/math.dll", released=True)
def _(edited: EditedSet) -> None:
    data = windows_library([offload_bundle(TARGETS[1:])], WINDOWS_MATH)
    edited.wheel("win_math").files["_win_math/bin/math.dll"] = data
