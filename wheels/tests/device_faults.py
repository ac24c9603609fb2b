"""Faults of device code: a GPU that is offered, and code that is not there for it."""

from collections.abc import Mapping, Sequence

from develop.testing.device_sample import compressed
from wheels.tests.editing import EditedSet
from wheels.tests.faults import fault
from wheels.tests.libraries import fat, kpack, offload_bundle, split_off
from wheels.tests.planted_set import LIBRARIES, TARGETS, small_wheel
from wheels.tests.selection_faults import change_selector

FAT = "lib/libfat.so.1"
KERNELS = f"{LIBRARIES}/lib/rocblas/library"


def add_kernels(edited: EditedSet, target: str, libraries: Mapping[str, Sequence[str]]) -> None:
    """Add a wheel of another maker's that is for one target: its libraries, with the targets of their code."""
    name = f"kernels_{target}"
    files = {f"_{name}/{library}": fat(library, [offload_bundle(one)]) for library, one in libraries.items()}
    edited.add(small_wheel(name, files, "py3-none-manylinux_2_17_x86_64"))


@fault("D113", "another maker's library has no code for the machine's GPU", "math", "math/libmath.so", target="gfx942")
def _(edited: EditedSet) -> None:
    files = {"math/libmath.so": fat("libmath.so", [offload_bundle(["gfx1100"])])}
    edited.add(small_wheel("math", files, "py3-none-manylinux_2_17_x86_64"))


@fault("S140", "another maker has a package for one GPU, and the machine has another", target="gfx1100")
def _(edited: EditedSet) -> None:
    add_kernels(edited, "gfx942", {"lib/libk.so": TARGETS[1:]})


def offer_nothing(edited: EditedSet) -> None:
    """Let the selector offer a GPU that the set has a package for, and no code."""
    version = "7.10.0.dev0"
    made = small_wheel("rocm_sdk_device_gfx1201", {f"{LIBRARIES}/share/notes": b"none"})
    made.files = {path.replace("gfx1201-1.0", f"gfx1201-{version}"): data for path, data in made.files.items()}
    made.replace("METADATA", "Version: 1.0", f"Version: {version}")
    made.name = made.name.replace("-1.0-", f"-{version}-")
    edited.add(made)
    change_selector(edited, lambda document: document["targets"].append("gfx1201"))


def put_fat(edited: EditedSet, *bundles: bytes) -> None:
    """Put other bundles into the library with device code."""
    edited.wheel("rocm_sdk_libraries").files[f"{LIBRARIES}/{FAT}"] = fat("libfat.so.1", bundles)


@fault("D108", "a library has no code for one GPU", "rocm_sdk_libraries", FAT)
def _(edited: EditedSet) -> None:
    put_fat(edited, offload_bundle(["gfx942:xnack+", "gfx942:xnack-"]), offload_bundle(["gfx942"]))


@fault("D108", "there are no files for one GPU", "rocm_sdk_libraries", "lib/librocblas.so.5")
def _(edited: EditedSet) -> None:
    del edited.wheel("rocm_sdk_device_gfx1100").files[f"{KERNELS}/Kernels_gfx1100.dat"]


@fault("D101", "a library for one GPU has code for another alone", "kernels_gfx1100", "libk.so")
def _(edited: EditedSet) -> None:
    add_kernels(edited, "gfx1100", {"libk.so": ["gfx942"]})


@fault("D110", "a GPU is offered that no library has code for")
def _(edited: EditedSet) -> None:
    offer_nothing(edited)


@fault("S138", "the default GPU is one that no library has code for", "rocm-7.10.0.dev0")
def _(edited: EditedSet) -> None:
    offer_nothing(edited)
    change_selector(edited, lambda document: document.update(default_target="gfx1201"))


@fault("D103", "some of the files for a GPU are left out", "rocm_sdk_device_gfx942", "lib/math/more")
def _(edited: EditedSet) -> None:
    for target in ("gfx1100", "gfx942"):
        files = edited.wheel(f"rocm_sdk_device_{target}").files
        files |= {f"{LIBRARIES}/lib/math/{part}/k_{target}.co": part.encode() for part in ("some", "more")}
    del edited.wheel("rocm_sdk_device_gfx942").files[f"{LIBRARIES}/lib/math/more/k_gfx942.co"]


@fault("D102", "a library has no code for one form of a GPU", "rocm_sdk_libraries", FAT)
def _(edited: EditedSet) -> None:
    put_fat(edited, *[offload_bundle(["gfx1100", "gfx942:xnack+"])] * 2)


@fault("D102", "files are there for one form of a GPU alone", "rocm_sdk_device_gfx942", "lib/rocblas/library")
def _(edited: EditedSet) -> None:
    del edited.wheel("rocm_sdk_device_gfx942").files[f"{KERNELS}/Kernels_gfx942.dat"]


@fault("D103", "a target is dropped from one bundle", "rocm_sdk_libraries", FAT)
def _(edited: EditedSet) -> None:
    put_fat(edited, offload_bundle(TARGETS), offload_bundle(TARGETS[1:]), offload_bundle(TARGETS))


@fault("D103", "a target is dropped from one compressed bundle", "rocm_sdk_libraries", FAT)
def _(edited: EditedSet) -> None:
    put_fat(edited, compressed(offload_bundle(TARGETS)), compressed(offload_bundle(TARGETS[:2])))


@fault("D103", "code is empty in one bundle", "rocm_sdk_libraries", FAT)
def _(edited: EditedSet) -> None:
    whole = offload_bundle(TARGETS)
    broken = bytearray(whole)
    at = whole.index(b"hipv4-amdgcn-amd-amdhsa--gfx1100")
    broken[at - 16 : at - 8] = bytes(8)  # the size of its code object
    put_fat(edited, whole, bytes(broken))


@fault("D103", "an archive lacks a bundle", "rocm_sdk_libraries", "lib/libsplit.so.1")
def _(edited: EditedSet) -> None:
    archive = kpack({"lib/libsplit.so.1#0": ["gfx1100"]})
    edited.wheel("rocm_sdk_device_gfx1100").files[f"{LIBRARIES}/.kpack/split_gfx1100.kpack"] = archive


@fault("D104", "a bundle without its end", "rocm_sdk_libraries", FAT)
def _(edited: EditedSet) -> None:
    put_fat(edited, offload_bundle(TARGETS), compressed(offload_bundle(TARGETS))[:-30])


@fault("D104", "an archive with a broken table of contents", "rocm_sdk_device_gfx1100", "split_extra.kpack")
def _(edited: EditedSet) -> None:
    archive = kpack({"lib/libextra.so#0": ["gfx1100"]})[:-5]
    edited.wheel("rocm_sdk_device_gfx1100").files[f"{LIBRARIES}/.kpack/split_extra.kpack"] = archive


@fault("D105", "a file for another GPU than its package's", "rocm_sdk_device_gfx942", "Other_gfx1100.dat")
def _(edited: EditedSet) -> None:
    edited.wheel("rocm_sdk_device_gfx942").files[f"{KERNELS}/Other_gfx1100.dat"] = b"kernels"


@fault("D108", "there is no archive for one GPU", "rocm_sdk_libraries", "lib/libsplit.so.1")
def _(edited: EditedSet) -> None:
    del edited.wheel("rocm_sdk_device_gfx942").files[f"{LIBRARIES}/.kpack/split_gfx942.kpack"]


@fault("D106", "the archive for one GPU is left out, and other code is there", "rocm_sdk_libraries", "libsplit.so.1")
def _(edited: EditedSet) -> None:
    for target in ("gfx1100", "gfx942"):
        edited.wheel(f"rocm_sdk_device_{target}").files[f"{LIBRARIES}/lib/split/k_{target}.co"] = b"kernels"
    del edited.wheel("rocm_sdk_device_gfx942").files[f"{LIBRARIES}/.kpack/split_gfx942.kpack"]


@fault("D106", "the archive for one GPU has nothing of a library", "rocm_sdk_libraries", "lib/libsplit.so.1")
def _(edited: EditedSet) -> None:
    for target in ("gfx1100", "gfx942"):
        edited.wheel(f"rocm_sdk_device_{target}").files[f"{LIBRARIES}/lib/split/k_{target}.co"] = b"kernels"
    archive = kpack({f"lib/libother.so.1#{number}": ["gfx942"] for number in range(2)})
    edited.wheel("rocm_sdk_device_gfx942").files[f"{LIBRARIES}/.kpack/split_gfx942.kpack"] = archive


@fault("D111", "a library asks for more bundles than archives have", "rocm_sdk_libraries", "lib/libsplit.so.1")
def _(edited: EditedSet) -> None:
    library = split_off("libsplit.so.1", "lib/libsplit.so.1", "../.kpack/split_@GFXARCH@.kpack", range(38))
    edited.wheel("rocm_sdk_libraries").files[f"{LIBRARIES}/lib/libsplit.so.1"] = library


@fault("D111", "archives have a bundle that the library does not ask for", "rocm_sdk_libraries", "lib/libsplit.so.1")
def _(edited: EditedSet) -> None:
    library = split_off("libsplit.so.1", "lib/libsplit.so.1", "../.kpack/split_@GFXARCH@.kpack", (0,))
    edited.wheel("rocm_sdk_libraries").files[f"{LIBRARIES}/lib/libsplit.so.1"] = library


@fault("D108", "a library for which only half of the GPUs have files", "rocm_sdk_device_gfx1100", "lib/sparse")
def _(edited: EditedSet) -> None:
    path = f"{LIBRARIES}/lib/sparse/kernels_gfx1100.hsaco"
    edited.wheel("rocm_sdk_device_gfx1100").files[path] = b"kernels"


@fault("D107", "a library for one GPU has code for another", "kernels_gfx1100", "libk.so")
def _(edited: EditedSet) -> None:
    add_kernels(edited, "gfx1100", {"libk.so": ["gfx1100", "gfx942"]})


@fault("D107", "an archive for one GPU has code for another", "rocm_sdk_device_gfx1100", "split_gfx1100.kpack")
def _(edited: EditedSet) -> None:
    contents = {f"lib/libsplit.so.1#{number}": ["gfx1100", "gfx906"] for number in range(2)}
    edited.wheel("rocm_sdk_device_gfx1100").files[f"{LIBRARIES}/.kpack/split_gfx1100.kpack"] = kpack(contents)


@fault("D108", "a library is there for one GPU and not for another", "kernels_gfx942", "_kernels_gfx942/libl.so")
def _(edited: EditedSet) -> None:
    add_kernels(edited, "gfx1100", {"libk.so": ["gfx1100"], "libl.so": ["gfx1100"]})
    add_kernels(edited, "gfx942", {"libk.so": ["gfx942"]})


@fault("D105", "a database for another GPU than its package's", "rocm_sdk_device_gfx942", "gfx1100_60.kdb")
def _(edited: EditedSet) -> None:
    edited.wheel("rocm_sdk_device_gfx942").files[f"{LIBRARIES}/share/miopen/db/gfx1100_60.kdb"] = b"database"
