"""Libraries whose device code clang compressed are sliced as others are, and their slices hand HIP what clang made.

    python3 -m tests.e2e.thin.compressed

Run it from the top of the workspace, where there are one or more of Debian's clang 18 and newer with their clang-tools
(each version of the header of compressed bundles is another release's), lld, a C compiler and pyelftools; and
`lib/device/zstd_codec.so`, see CONTRIBUTING.md.

Each clang compiles two kernels, in one source file each, for several GPUs into a library, plain and with
--offload-compress. What the plain one holds is what slices of the other must hold of it, read by `lib.device`, by
clang-offload-bundler, and in the memory of a process that loads it; compressed as that clang does.
"""

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from lib.device.slice import plan_slice
from lib.elf.patched import write_patched
from lib.gpus.target_id import parse_target_id
from tests.e2e.testing.commands import run
from tests.e2e.thin.bundler import bundler
from tests.e2e.thin.code import Bundle, held, kept, same
from tests.e2e.thin.memory import compile_shim
from tests.e2e.thin.readers import Readers

VERSIONS = range(18, 31)
GPUS = ("gfx90a:xnack+", "gfx90a:xnack-", "gfx1030", "gfx1100")
#: For which there is to be a slice.
SLICES = (("gfx1030",), ("gfx90a",), ("gfx90a:xnack-",), ("gfx1030", "gfx1100"))
#: What clang needs declared in each source file, and defined in one library, instead of HIP's headers.
SOURCE = """
struct dim3 { unsigned x, y, z; };
typedef struct stream *hipStream_t;
typedef int hipError_t;
extern "C" __attribute__((weak)) hipError_t
hipLaunchKernel(const void *, dim3, dim3, void **, __SIZE_TYPE__, hipStream_t) { return 0; }
extern "C" __attribute__((weak)) hipError_t
__hipPopCallConfiguration(dim3 *, dim3 *, __SIZE_TYPE__ *, hipStream_t *) { return 0; }
extern "C" __attribute__((global)) void %(name)s(float *a, float b) { a[__builtin_amdgcn_workitem_id_x()] %(does)s b; }
"""
KERNELS = {"scale": "*=", "shift": "+="}


def compile_library(version: int, folder: Path, name: str, *options: str) -> Path:
    """Compile the kernels with a clang, into a library that needs no other; returns its path."""
    hip = ("-x", "hip", "-nogpulib", "-nogpuinc", "--no-offload-new-driver", *(f"--offload-arch={gpu}" for gpu in GPUS))
    objects = []
    for kernel, does in KERNELS.items():
        source = folder / f"{kernel}.hip"
        source.write_text(SOURCE % {"name": kernel, "does": does}, encoding="utf-8")
        objects.append(source.with_suffix(".o"))
        # What code objects have of their own is not to depend on the command line, as it does by default.
        once = (*hip, f"-cuid={kernel}", *options)
        run(f"clang++-{version}", *once, "-O2", "-fPIC", "-c", "-o", objects[-1], source)
    output = folder / name
    run("cc", "-shared", "-o", output, *objects)
    return output


def write_slice(library: Path, output: Path, targets: Sequence[str]) -> bool:
    """Slice a library for some targets; returns whether it is another one then."""
    with library.open("rb") as file:
        patch = plan_slice(file, str(library), list(map(parse_target_id, targets)))
        write_patched(patch, file, str(output))
    return not patch.is_identity


def check_slice(library: Path, original: Sequence[Bundle], targets: Sequence[str], readers: Readers) -> None:
    """Slice a library whose bundles, plain, are these, and read the slice in all ways; print a line."""
    output = library.with_name(f"{'-'.join(targets)}.so")
    what = f"{library.name} for {', '.join(targets)}"
    if not write_slice(library, output, targets):
        raise SystemExit(f"{what}: nothing was sliced")
    expected = [kept(bundle, list(map(parse_target_id, targets))) for bundle in original]
    found = readers.library(output)
    same(what, expected, found.bundles)
    same(f"{what}, in memory", sorted(expected), sorted(found.handed))
    if found.headers != readers.file(library).headers:
        raise SystemExit(f"{what}: compressed as {found.headers}; expected what it was sliced from")
    print(f"  {', '.join(targets)}: {sum(len(bundle) - 1 for bundle in expected)} code objects, as clang made them")


def check_clang(version: int, folder: Path, shim: Path) -> None:
    """Check slices of what one clang compresses."""
    scratch = folder / "code"
    scratch.mkdir()
    readers = Readers(shim, bundler([version]), scratch)
    plain = compile_library(version, folder, "plain.so")
    library = compile_library(version, folder, "compressed.so", "--offload-compress")
    original = held(plain).bundles
    found = readers.library(library)
    if len(found.headers) != len(KERNELS) or None in found.headers:
        raise SystemExit(f"clang {version}: bundles like {found.headers}; expected {len(KERNELS)} that are compressed")
    kinds = {f"method {one.method}, version {one.version}" for one in found.headers if one}
    print(f"clang {version}: {len(found.bundles)} bundles ({'; '.join(kinds)}) of {len(original[0]) - 1} code objects")
    same(library.name, original, found.bundles)
    for targets in SLICES:
        check_slice(library, original, targets, readers)
    if write_slice(library, library.with_name("all.so"), GPUS):
        raise SystemExit(f"clang {version}: a slice for all GPUs is another library")
    same(f"{library.name} for all GPUs, in memory", found.handed, readers.library(library.with_name("all.so")).handed)


def main() -> int:
    """Check all that there are; returns the exit code."""
    versions = [version for version in VERSIONS if shutil.which(f"clang++-{version}")]
    if not versions:
        raise SystemExit(f"no clang++-{VERSIONS[0]} or newer: install Debian's clang and clang-tools")
    with tempfile.TemporaryDirectory(prefix="rocm-compressed-") as name:
        shim = compile_shim(Path(name))
        for version in versions:
            folder = Path(name, str(version))
            folder.mkdir()
            check_clang(version, folder, shim)
    print(f"{len(versions)} clangs; {len(SLICES)} slices of each")
    return 0


if __name__ == "__main__":
    sys.exit(main())
