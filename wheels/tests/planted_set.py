"""The set that faults are planted in: the mini SDK's distributions, and what they have none of. It has no fault itself.

Added are libraries with symbol versions and with device code in every form, and wheels of other makers: three for
Linux and any platform, and two for Windows, of which one requires the other.
"""

from pathlib import Path

from develop.testing.device_sample import compressed
from develop.testing.device_windows import windows_library
from develop.testing.elf_sample import Sample
from develop.testing.pe_sample import Sample as PeSample
from lib.pack.stand_ins import PE_SECTION
from wheels.tests.editing import EditedSet, EditedWheel
from wheels.tests.libraries import fat, kpack, offload_bundle, split_off, using, versioned, windows_split_off

LIBRARIES = "_rocm_sdk_libraries"
DEVEL = "_rocm_sdk_devel"
#: All targets of the mini SDK, and every form that there is code for.
TARGETS = ("gfx1100", "gfx942:xnack+", "gfx942:xnack-")
FORMS = {"gfx1100": ["gfx1100"], "gfx942": ["gfx942:xnack+", "gfx942:xnack-"]}

#: The DLL of the one package for Windows, a program beside it, and a DLL with device code of the other package.
WINDOWS_BASE = PeSample(name="base_1.dll", exports=("function", "other"))
WINDOWS_TOOL = PeSample(dll=False, name=None, exports=(), imports=(("Base_1.dll", ("function",)),))
WINDOWS_MATH = PeSample(name="math.dll", imports=(("base_1.dll", ("function", 2)), ("KERNEL32.dll", ("Sleep",))))

METADATA = """\
Metadata-Version: 2.4
Name: {name}
Version: 1.0
Summary: A small package
License-Expression: MIT
License-File: LICENSE
Description-Content-Type: text/plain

A small package.
"""
WHEEL = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: {purelib}\nTag: {tag}\n"


def small_wheel(name: str, files: dict[str, bytes], tag: str = "py3-none-any") -> EditedWheel:
    """Return a wheel of version 1.0 that requires nothing."""
    purelib = "true" if tag.endswith("-any") else "false"
    dist_info = f"{name}-1.0.dist-info"
    texts = {"METADATA": METADATA.format(name=name), "WHEEL": WHEEL.format(purelib=purelib, tag=tag)}
    texts |= {"licenses/LICENSE": "MIT\n"}
    own = {f"{dist_info}/{path}": text.encode() for path, text in texts.items()}
    return EditedWheel(f"{name}-1.0-{tag}.whl", files | own)


def add_library(edited: EditedSet, path: str, data: bytes) -> None:
    """Add a library to the libraries package, and its link to the development tree."""
    edited.wheel("rocm_sdk_libraries").files[f"{LIBRARIES}/{path}"] = data
    mirror(edited, path, LIBRARIES)


def mirror(edited: EditedSet, path: str, tree: str = "_rocm_sdk_core") -> None:
    """Give the development tree a link to a file of a package's tree."""
    up = "../" * (path.count("/") + 1)
    edited.change_links(lambda links: links.update({path: f"{up}{tree}/{path}"}))


def unmirror(edited: EditedSet, *paths: str) -> None:
    """Leave paths out of the development tree."""

    def change(links: dict[str, str]) -> None:
        for path in paths:
            del links[path]

    edited.change_links(change)


def windows_launcher(target: str) -> bytes:
    """Return a launcher of a program beside it."""
    sections = ((PE_SECTION, target.encode().ljust(64, b"\0")),)
    return PeSample(dll=False, name=None, exports=(), sections=sections).build()


def add_windows(edited: EditedSet) -> None:
    """Add the wheels for Windows."""
    base = {
        "_win_base/bin/base_1.dll": WINDOWS_BASE.build(),
        "_win_base/bin/tool.exe": WINDOWS_TOOL.build(),
        "_win_base/bin/start.exe": windows_launcher("tool.exe"),
    }
    bundles = [offload_bundle(TARGETS), compressed(offload_bundle(TARGETS))]
    math = {
        "_win_math/bin/math.dll": windows_library(bundles, WINDOWS_MATH),
        "_win_math/bin/split.dll": windows_split_off("bin/split.dll", "../.kpack/split_@GFXARCH@.kpack"),
    }
    for target, forms in FORMS.items():
        archive = kpack({f"bin/split.dll#{number}": forms for number in range(2)})
        math[f"_win_math/.kpack/split_{target}.kpack"] = archive
    edited.add(small_wheel("win_base", base, "py3-none-win_amd64"))
    edited.add(small_wheel("win_math", math, "py3-none-win_amd64"))
    edited.wheel("win_math").replace("METADATA", "\nSummary:", "\nRequires-Dist: win_base\nSummary:")


def planted_set(origin: Path, directory: Path) -> EditedSet:
    """Return the set, to be changed and saved."""
    edited = EditedSet(origin, directory)
    add_library(edited, "lib/libmath.so.1", versioned("libmath.so.1", ("MATH_1", "MATH_2")))
    add_library(edited, "lib/libuser.so.1", using("libuser.so.1", "libmath.so.1", ("MATH_1", "MATH_2")))
    bundles = [offload_bundle(TARGETS), compressed(offload_bundle(TARGETS)), offload_bundle(("gfx1100", "gfx942"))]
    add_library(edited, "lib/libfat.so.1", fat("libfat.so.1", bundles))
    add_library(
        edited, "lib/libsplit.so.1", split_off("libsplit.so.1", "lib/libsplit.so.1", "../.kpack/split_@GFXARCH@.kpack")
    )
    for target, forms in FORMS.items():
        archive = kpack({f"lib/libsplit.so.1#{number}": forms for number in range(2)})
        edited.wheel(f"rocm_sdk_device_{target}").files[f"{LIBRARIES}/.kpack/split_{target}.kpack"] = archive
    edited.add(small_wheel("tool", {"tool/__init__.py": b'"""A tool."""\n'}))
    edited.add(small_wheel("other", {"other/__init__.py": b'"""Another."""\n'}))
    native = {"native/__init__.py": b"", "native/libnative.so": Sample(soname="libnative.so").build()}
    edited.add(small_wheel("native", native, "py3-none-manylinux_2_17_x86_64"))
    add_windows(edited)
    return edited
