"""Faults of wheels for Windows, alone and together: those that `planted_set` adds, with DLLs made byte by byte."""

from dataclasses import replace

from develop.testing.device_sample import compressed
from develop.testing.device_windows import windows_library
from develop.testing.pe_sample import Sample
from lib.pe import constants as c
from wheels.tests.editing import EditedSet, EditedWheel
from wheels.tests.faults import fault
from wheels.tests.libraries import kpack, offload_bundle, windows_split_off
from wheels.tests.planted_set import TARGETS, WINDOWS_BASE, WINDOWS_MATH, WINDOWS_TOOL, small_wheel, windows_launcher

BASE, TOOL, START = "_win_base/bin/base_1.dll", "_win_base/bin/tool.exe", "_win_base/bin/start.exe"
MATH = "_win_math/bin/math.dll"


def base(edited: EditedSet) -> EditedWheel:
    """Return the wheel that the other one requires."""
    return edited.wheel("win_base")


def put_math(edited: EditedSet, sample: Sample) -> None:
    """Put another DLL instead of that with device code."""
    edited.wheel("win_math").files[MATH] = windows_library([offload_bundle(TARGETS)], sample)


def importing(*imports: tuple[str, tuple[str | int, ...]]) -> Sample:
    """Return the DLL with more imports."""
    return replace(WINDOWS_MATH, imports=(*WINDOWS_MATH.imports, *imports))


@fault("W116", "a name that NTFS refuses", "win_base", "what?.txt")
def _(edited: EditedSet) -> None:
    base(edited).files["_win_base/share/what?.txt"] = b"text"


@fault("W116", "a name that ends in a dot", "win_base", "notes.")
def _(edited: EditedSet) -> None:
    base(edited).files["_win_base/share/notes."] = b"text"


@fault("W110", "two DLLs that differ in case", "win_base", "base_1.dll")
def _(edited: EditedSet) -> None:
    base(edited).files["_win_base/bin/BASE_1.dll"] = base(edited).files[BASE]


@fault("W416", "a DLL for another CPU", "win_base", "other.dll")
def _(edited: EditedSet) -> None:
    base(edited).files["_win_base/bin/other.dll"] = Sample(machine=c.IMAGE_FILE_MACHINE_ARM64).build()


@fault("W416", "a DLL for 32 bits that no program is for", "win_base", "other.dll")
def _(edited: EditedSet) -> None:
    library = Sample(machine=c.IMAGE_FILE_MACHINE_I386, magic=c.PE32).build()
    base(edited).files["_win_base/bin/other.dll"] = library


@fault("W421", "a DLL without its end", "win_base", "other.dll")
def _(edited: EditedSet) -> None:
    base(edited).files["_win_base/bin/other.dll"] = base(edited).files[BASE][:-400]


@fault("S171", "a DLL needs what nobody has", "win_math", MATH)
def _(edited: EditedSet) -> None:
    put_math(edited, importing(("nobodys.dll", ("function",))))


@fault("S171", "a DLL is removed from the set", "win_math", MATH)
def _(edited: EditedSet) -> None:
    for path in (BASE, TOOL):
        del base(edited).files[path]
    base(edited).files[START] = windows_launcher("start.exe")


@fault("S172", "a requirement is left out", "win_math", MATH)
def _(edited: EditedSet) -> None:
    edited.wheel("win_math").replace("METADATA", "Requires-Dist: win_base\n", "")


@fault("S173", "a C++ runtime that nobody ships", "win_math", MATH)
def _(edited: EditedSet) -> None:
    put_math(edited, importing(("MSVCP140.dll", ("function",))))


@fault("S174", "a DLL that is needed later is nowhere", "win_math", MATH)
def _(edited: EditedSet) -> None:
    put_math(edited, replace(WINDOWS_MATH, delayed=(("nobodys.dll", ("function",)),)))


@fault("S175", "a program whose DLL lies elsewhere", "win_base", "other/tool.exe")
def _(edited: EditedSet) -> None:
    base(edited).files["_win_base/other/tool.exe"] = base(edited).files[TOOL]


@fault("S175", "a program beside whose DLL another one does not lie", "win_math", "bin/tool.exe")
def _(edited: EditedSet) -> None:
    program = replace(WINDOWS_TOOL, imports=(("math.dll", ("function",)),))
    edited.wheel("win_math").files["_win_math/bin/tool.exe"] = program.build()


@fault("S176", "a function that the DLL does not have", "win_math", MATH)
def _(edited: EditedSet) -> None:
    put_math(edited, importing(("base_1.dll", ("later",))))


@fault("S176", "an ordinal that the DLL does not have", "win_math", MATH)
def _(edited: EditedSet) -> None:
    put_math(edited, importing(("base_1.dll", (77,))))


@fault("S177", "another DLL of the name in a package of another maker's", "win_other", "Base_1.dll")
def _(edited: EditedSet) -> None:
    other = replace(WINDOWS_BASE, unnamed=3).build()
    edited.add(small_wheel("win_other", {"win_other/Base_1.dll": other}, "py3-none-win_amd64"))


@fault("S121", "a path that differs in case from another package's", "win_math", "Base_1.dll")
def _(edited: EditedSet) -> None:
    edited.wheel("win_math").files["_win_base/bin/Base_1.dll"] = base(edited).files[BASE]


@fault("S124", "a launcher of Windows starts what is not there", "win_base", START)
def _(edited: EditedSet) -> None:
    base(edited).files[START] = windows_launcher("gone.exe")


@fault("D103", "a target is dropped from one bundle of a DLL", "win_math", MATH)
def _(edited: EditedSet) -> None:
    bundles = [offload_bundle(TARGETS), compressed(offload_bundle(TARGETS[1:]))]
    edited.wheel("win_math").files[MATH] = windows_library(bundles, WINDOWS_MATH)


@fault("D104", "a DLL with a bundle without its end", "win_math", MATH)
def _(edited: EditedSet) -> None:
    edited.wheel("win_math").files[MATH] = windows_library([compressed(offload_bundle(TARGETS))[:-30]], WINDOWS_MATH)


@fault("D103", "an archive lacks a bundle of a DLL", "win_math", "bin/split.dll")
def _(edited: EditedSet) -> None:
    edited.wheel("win_math").files["_win_math/.kpack/split_gfx1100.kpack"] = kpack({"bin/split.dll#0": ["gfx1100"]})


@fault("D111", "a DLL asks for more bundles than archives have", "win_math", "bin/split.dll")
def _(edited: EditedSet) -> None:
    library = windows_split_off("bin/split.dll", "../.kpack/split_@GFXARCH@.kpack", range(5))
    edited.wheel("win_math").files["_win_math/bin/split.dll"] = library


@fault("D103", "some of the files for a GPU are left out of a DLL's directory", "win_math", "_win_math/bin/math")
def _(edited: EditedSet) -> None:
    edited.wheel("win_math").files["_win_math/bin/math/kernels/k_gfx1100.co"] = b"kernels"
