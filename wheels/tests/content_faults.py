"""Faults of one wheel: its metadata, its ELF files, and what should not be published."""

from develop.testing.elf_sample import Sample
from lib.elf import constants as c
from wheels.tests.editing import EditedSet, EditedWheel
from wheels.tests.faults import fault
from wheels.tests.libraries import facts, with_search_path, with_segment

NATIVE = "native/libnative.so"
#: A library of the mini SDK that no other needs.
PLUGIN = "_rocm_sdk_libraries/lib/rand/librand_plugin.so"
DT_TEXTREL = 22


def tool(edited: EditedSet) -> EditedWheel:
    """Return a small wheel of pure Python."""
    return edited.wheel("tool")


def native(edited: EditedSet) -> EditedWheel:
    """Return a small wheel with a library, for manylinux_2_17."""
    return edited.wheel("native")


def libraries(edited: EditedSet) -> EditedWheel:
    """Return the wheel of the mini SDK's libraries."""
    return edited.wheel("rocm_sdk_libraries")


@fault("W301", "a .dist-info directory of another version", "tool", "tool-2.0.dist-info")
def _(edited: EditedSet) -> None:
    wheel = tool(edited)
    wheel.files = {path.replace("tool-1.0.dist-info", "tool-2.0.dist-info"): data for path, data in wheel.files.items()}


@fault("W302", "a field of METADATA is malformed", "tool", "METADATA")
def _(edited: EditedSet) -> None:
    tool(edited).replace("METADATA", "Version: 1.0\n", "Version: 1.0\nRequires-Python: at least 3\n")


@fault("W302", "no METADATA", "tool", "METADATA")
def _(edited: EditedSet) -> None:
    del tool(edited).files["tool-1.0.dist-info/METADATA"]


@fault("W303", "METADATA has another name", "tool", "METADATA")
def _(edited: EditedSet) -> None:
    tool(edited).replace("METADATA", "Name: tool", "Name: hammer")


@fault("W304", "WHEEL of a version that nobody knows", "tool", "WHEEL")
def _(edited: EditedSet) -> None:
    tool(edited).replace("WHEEL", "Wheel-Version: 1.0", "Wheel-Version: 3.0")


@fault("W305", "WHEEL lacks the tag", "rocm_profiler", "WHEEL")
def _(edited: EditedSet) -> None:
    edited.wheel("rocm_profiler").replace("WHEEL", "Tag: py3-none-linux_x86_64\n", "")


@fault("W306", "a pure wheel with a library", "rocm_profiler", "_rocm_profiler/")
def _(edited: EditedSet) -> None:
    edited.wheel("rocm_profiler").replace("WHEEL", "Root-Is-Purelib: false", "Root-Is-Purelib: true")


@fault("W307", "a licence that METADATA names is not there", "rocm_sdk_core", "METADATA")
def _(edited: EditedSet) -> None:
    core = edited.wheel("rocm_sdk_core")
    del core.files[f"{core.dist_info}/licenses/LICENSE"]


@fault("W308", "a console script that calls nothing", "rocm_sdk_core", "entry_points.txt")
def _(edited: EditedSet) -> None:
    core = edited.wheel("rocm_sdk_core")
    core.files[f"{core.dist_info}/entry_points.txt"] += b"broken = rocm sdk\n"


@fault("W310", "a console script of a module that there is not", "tool", "entry_points.txt")
def _(edited: EditedSet) -> None:
    tool(edited).files["tool-1.0.dist-info/entry_points.txt"] = b"[console_scripts]\ntool = tool.program:main\n"


@fault("W309", "no description", "tool", "METADATA")
def _(edited: EditedSet) -> None:
    tool(edited).replace("METADATA", "\nA small package.\n", "")


@fault("W401", "a library without its end", "rocm_sdk_libraries", PLUGIN)
def _(edited: EditedSet) -> None:
    files = libraries(edited).files
    files[PLUGIN] = files[PLUGIN][:-64]


@fault("W402", "a segment that is not aligned as it says", "native", NATIVE)
def _(edited: EditedSet) -> None:
    files = native(edited).files
    files[NATIVE] = with_segment(files[NATIVE], c.PT_LOAD, align=0x3000)


@fault("W404", "an executable stack", "rocm_sdk_libraries", PLUGIN)
def _(edited: EditedSet) -> None:
    files = libraries(edited).files
    files[PLUGIN] = with_segment(files[PLUGIN], c.PT_GNU_STACK, flags=c.PF_R | c.PF_W | c.PF_X)


@fault("W405", "a segment that can be written and run", "native", NATIVE)
def _(edited: EditedSet) -> None:
    files = native(edited).files
    files[NATIVE] = with_segment(files[NATIVE], c.PT_LOAD, flags=c.PF_R | c.PF_W | c.PF_X)


@fault("W406", "a loader that no other machine has", "native", "native/program")
def _(edited: EditedSet) -> None:
    program = Sample(soname=None, interpreter="/nix/store/glibc/ld-linux-x86-64.so.2").build()
    native(edited).files["native/program"] = program


@fault("W411", "an absolute entry in RPATH", "rocm_sdk_libraries", PLUGIN)
def _(edited: EditedSet) -> None:
    _extend(edited, PLUGIN, "/opt/rocm/lib")


@fault("W412", "an empty entry in RPATH", "rocm_sdk_libraries", PLUGIN)
def _(edited: EditedSet) -> None:
    files = libraries(edited).files
    path = facts(files[PLUGIN]).rpath or ""
    shorter = path.rpartition(":")[0]
    changed = bytearray(files[PLUGIN])
    at = changed.index(path.encode() + b"\0")
    changed[at : at + len(path)] = (shorter + ":").encode().ljust(len(path), b"\0")
    files[PLUGIN] = bytes(changed)


@fault("W413", "a RUNPATH", "rocm_sdk_libraries", "libhipblas.so.3")
def _(edited: EditedSet) -> None:
    path = "_rocm_sdk_libraries/lib/libhipblas.so.3"
    files = libraries(edited).files
    files[path] = with_search_path(files[path], (facts(files[path]).rpath or "").split(":"), c.DT_RUNPATH)


@fault("W414", "an entry in RPATH that leads out of site-packages", "rocm_sdk_libraries", PLUGIN)
def _(edited: EditedSet) -> None:
    _extend(edited, PLUGIN, "$ORIGIN/../../../../lib")


def _extend(edited: EditedSet, path: str, entry: str) -> None:
    files = libraries(edited).files
    entries = [*(facts(files[path]).rpath or "").split(":"), entry]
    files[path] = with_search_path(files[path], entries)


@fault("W415", "a newer libc than the tag promises", "native", NATIVE)
def _(edited: EditedSet) -> None:
    versions = (("libc.so.6", ("GLIBC_2.2.5", "GLIBC_2.38")),)
    native(edited).files[NATIVE] = Sample(soname="libnative.so", versions=versions).build()


@fault("W416", "a library for another CPU", "native", NATIVE)
def _(edited: EditedSet) -> None:
    native(edited).files[NATIVE] = Sample(soname="libnative.so", machine=c.EM_AARCH64).build()


@fault("W505", "a pkg-config file of the build machine", "tool", "tool/tool.pc")
def _(edited: EditedSet) -> None:
    tool(edited).files["tool/tool.pc"] = b"prefix=/home/builder/work/install\n"


@fault("W505", "a file below etc of the build machine", "tool", "tool/etc/tool")
def _(edited: EditedSet) -> None:
    tool(edited).files["tool/etc/tool"] = b"plugins /therock/build/lib/tool\n"


@fault("W505", "an OpenCL driver where the build had it", "tool", "tool/etc/OpenCL/vendors/tool.icd")
def _(edited: EditedSet) -> None:
    tool(edited).files["tool/etc/OpenCL/vendors/tool.icd"] = b"/opt/rocm/lib/libamdocl64.so\n"


@fault("W512", "tests at the top", "tool", "tests/test_tool.py")
def _(edited: EditedSet) -> None:
    tool(edited).files["tests/test_tool.py"] = b'"""Tests."""\n'


@fault("W517", "a .pth file that imports", "tool", "tool.pth")
def _(edited: EditedSet) -> None:
    tool(edited).files["tool.pth"] = b"# a comment\nimport tool\n"
