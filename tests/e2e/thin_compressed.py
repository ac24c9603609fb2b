"""Libraries whose device code clang compressed are sliced as others are, and their slices hand HIP what clang made.

    python3 -m tests.e2e.thin_compressed

Run it from the top of the workspace, where there are one or more of Debian's clang 18 and newer with their clang-tools
(each version of the header of compressed bundles is another release's), lld, a C compiler and pyelftools; and
`tools/device/zstd_codec.so`, see CONTRIBUTING.md.

Each clang compiles two kernels, in one source file each, for several GPUs into a library, plain and with
--offload-compress. What the plain one holds is what slices of the other must hold of it: read by `tools.device`, by
clang-offload-bundler, and in the memory of a process that loads it.
"""

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.e2e.commands import run
from tests.e2e.thin_bundler import bundler, unbundled
from tests.e2e.thin_code import Bundle, held, kept, same
from tests.e2e.thin_memory import COMPRESSED, compile_shim, handed
from tools.device.model import Compression
from tools.device.reader import read_device_code
from tools.device.slice import plan_slice
from tools.device.target_id import parse_target_id
from tools.elf.output import write_patched

VERSIONS = range(18, 31)
GPUS = ("gfx90a:xnack+", "gfx90a:xnack-", "gfx1030", "gfx1100")
#: For which there is to be a slice.
SLICES = (("gfx1030",), ("gfx90a",), ("gfx90a:xnack-",), ("gfx1030", "gfx1100"))
#: What clang wants to be declared in each source file, and defined in one library, in place of HIP's headers.
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


def compressions(library: Path) -> list[Compression | None]:
    """Return how each bundle of a library is compressed."""
    with library.open("rb") as file:
        return [bundle.compression for bundle in read_device_code(file, str(library)).bundles]


def write_slice(library: Path, output: Path, targets: Sequence[str]) -> bool:
    """Slice a library for some targets; returns whether it is another one then."""
    with library.open("rb") as file:
        patch = plan_slice(file, str(library), list(map(parse_target_id, targets)))
        write_patched(patch, file, str(output))
    return not patch.is_identity


def check_slice(library: Path, original: Sequence[Bundle], targets: Sequence[str], program: str, shim: Path) -> None:
    """Slice a library whose bundles, plain, are these, and read the slice in all ways; print a line."""
    output = library.with_name(f"{'-'.join(targets)}.so")
    what = f"{library.name} for {', '.join(targets)}"
    if not write_slice(library, output, targets):
        raise SystemExit(f"{what}: nothing was sliced")
    expected = [kept(bundle, list(map(parse_target_id, targets))) for bundle in original]
    scratch = library.with_name("code")
    same(f"{what}, by tools.device", expected, held(output).bundles)
    same(f"{what}, by clang-offload-bundler", expected, unbundled(output, scratch, program))
    same(f"{what}, in memory", sorted(expected), sorted(handed(output, shim)))
    if any(compressions(output)):
        raise SystemExit(f"{what}: bundles that lost code are still compressed")
    print(f"  {', '.join(targets)}: {sum(len(bundle) - 1 for bundle in expected)} code objects, as clang made them")


def check_clang(version: int, folder: Path, shim: Path) -> None:
    """Check slices of what one clang compresses."""
    program = bundler([version])
    plain = compile_library(version, folder, "plain.so")
    library = compile_library(version, folder, "compressed.so", "--offload-compress")
    original = held(plain).bundles
    found = compressions(library)
    if len(found) != len(KERNELS) or not all(found):
        raise SystemExit(f"clang {version}: the bundles are {found}; expected {len(KERNELS)} that are compressed")
    kinds = {f"{one.method.name.lower()}, version {one.version}" for one in found if one}
    print(f"clang {version}: {len(found)} bundles ({'; '.join(kinds)}) of {len(original[0]) - 1} code objects")
    same(f"{library.name}, by tools.device", original, held(library).bundles)
    (folder / "code").mkdir()
    same(f"{library.name}, by clang-offload-bundler", original, unbundled(library, folder / "code", program))
    for targets in SLICES:
        check_slice(library, original, targets, program, shim)
    if write_slice(library, library.with_name("all.so"), GPUS):
        raise SystemExit(f"clang {version}: a slice for all GPUs is another library")
    in_memory = handed(library.with_name("all.so"), shim)
    same(f"{library.name} for all GPUs, in memory", handed(library, shim), in_memory)
    if any(code.entry != COMPRESSED for bundle in in_memory for code in bundle):
        raise SystemExit(f"clang {version}: a slice for all GPUs hands {in_memory} over; expected compressed bundles")


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
