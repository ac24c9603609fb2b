"""Thin packages hold what the fat libraries hold for their target, byte by byte, and loading them hands HIP just that.

    python3 -m tests.e2e.thin.real --artifacts DIR --dist DIR [--left-out gfx1011]

Run it from the top of the workspace, where Debian's ROCm finds its libc (ROCm 5.7 in a Debian 13 root, ROCm 7 in one of
unstable), with a C compiler, clang-offload-bundler if the packages have none, pyelftools, pip, and
`lib/device/zstd_codec.so`. The artifacts are those that the packages were made from, with fat libraries.

The code objects of each library are read in ways that know nothing of each other: by `lib.device`, by LLVM's
clang-offload-bundler, and in the memory of a process that loads it (readers.py). All
must agree on the fat library, and on each slice in what of it the target can load: bundle by bundle, by size and
SHA-256. What came compressed is compressed in the same version. All slices together must hold all that there was,
except what is left out. So it is of files that are bundles by themselves; one without code for a target may be missing
from its package. Data files whose names have a target are in the package of that target alone.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from lib.gpus.target_id import TargetId, parse_target_id
from tests.e2e.thin.bundler import bundler
from tests.e2e.thin.code import Bundle, kept, loadable, same
from tests.e2e.thin.memory import compile_shim, loads
from tests.e2e.thin.packages import (
    CORE,
    Environment,
    Package,
    artifact_files,
    device_files,
    device_libraries,
    find_core,
    find_packages,
    library_folders,
    named_files,
)
from tests.e2e.thin.readers import Library, Readers


def totals(bundles: Sequence[Bundle]) -> str:
    """Say how much code there is."""
    codes = [code for bundle in bundles for code in bundle if code.size]
    return f"{len(bundles)} bundles, {len(codes)} code objects, {sum(code.size for code in codes)} bytes"


def read_originals(sources: Mapping[str, Path], readers: Readers, search: str) -> dict[str, Library]:
    """Read all fat libraries, and all files of code by themselves; print a line for each."""
    found = {}
    for name, path in device_libraries(sources.values()).items():
        found[name] = readers.library(path, search)
        print(f"{name} as it was: {totals(found[name].bundles)}; {len(found[name].handed)} wrappers", flush=True)
    for name, path in device_files(sources).items():
        found[name] = readers.file(path)
        print(f"{name} as it was: {totals(found[name].bundles)}", flush=True)
    return found


def find_code(package: Package, files: Mapping[str, Path], originals: Mapping[str, Library]) -> dict[str, Path]:
    """Find what in a package holds device code; ends the program unless it is what should be there."""
    found = device_libraries(files.values()) | device_files(files)
    missing = {
        name
        for name in set(originals) - set(found)
        if originals[name].handed or any(loadable(one, [package.target]) for one in chain(*originals[name].bundles))
    }
    if missing or set(found) - set(originals):
        raise SystemExit(f"{package.wheel.name}: device code in {sorted(found)}; expected {sorted(originals)}")
    return found


def check_package(
    package: Package, files: Mapping[str, Path], originals: Mapping[str, Library], readers: Readers
) -> dict[str, list[Bundle]]:
    """Check the device code of a package; returns what each file holds. Ends the program if something is wrong."""
    found = {}
    for name, path in find_code(package, files, originals).items():
        what, original = f"{name} for {package.target}", originals[name]
        if original.handed:
            if complaint := loads(path):
                raise SystemExit(f"{what}: cannot be loaded: {complaint}")
            slice_ = readers.library(path)
        else:
            slice_ = readers.file(path)
        same(what, [kept(bundle, [package.target]) for bundle in original.bundles], slice_.bundles)
        same(f"{what}, in memory", [kept(bundle, [package.target]) for bundle in original.handed], slice_.handed)
        if slice_.headers != original.headers:
            raise SystemExit(f"{what}: compressed as {slice_.headers}; expected {original.headers}, as it came")
        wrappers = f"; {len(slice_.handed)} wrappers; loads" if original.handed else ""
        print(f"{what}: {totals(slice_.bundles)}{wrappers}", flush=True)
        found[name] = slice_.bundles
    return found


def check_union(
    originals: Mapping[str, Library],
    slices: Sequence[Mapping[str, list[Bundle]]],
    targets: Sequence[TargetId],
    left_out: Sequence[TargetId],
) -> int:
    """Check that the slices together hold what the originals hold; returns how many code objects are left out."""
    lost = [
        (number, code)
        for library in originals.values()
        for number, bundle in enumerate(library.bundles)
        for code in bundle
        if loadable(code, left_out) and not loadable(code, targets)
    ]
    if unused := [str(target) for target in left_out if not any(loadable(code, [target]) for _, code in lost)]:
        raise SystemExit(f"--left-out {' '.join(unused)}: there is no code that only this can load")
    for name, library in originals.items():
        for number, bundle in enumerate(library.bundles):
            slice_codes = {code for one in slices if name in one for code in one[name][number]}
            union = slice_codes | {c for n, c in lost if n == number}
            if missing := sorted(set(bundle) - union):
                raise SystemExit(f"{name}: no slice has {missing[0]} of bundle {number}")
    return len(lost)


def check_data(
    expected: Mapping[tuple[str, str], str], found: Mapping[tuple[str, str], str], left_out: Sequence[TargetId]
) -> None:
    """Check that packages have the data files whose names have a target, by that and path. Ends the program if not."""
    without = {target.processor for target in left_out}
    wanted = {key: digest for key, digest in expected.items() if key[0] not in without}
    if wrong := sorted(set(wanted.items()) ^ set(found.items())):
        (processor, name), _ = wrong[0]
        raise SystemExit(f"{name}, for {processor} by its name: missing, not as it was, or not of the artifacts")


def parser() -> argparse.ArgumentParser:
    """Make the command line parser."""
    result = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument(
        "--artifacts", type=Path, required=True, help="directory of artifact folders, fat libraries in them"
    )
    result.add_argument("--dist", type=Path, required=True, help="directory of the distributions of the thin layout")
    result.add_argument("--left-out", metavar="TARGET", nargs="+", default=[], help="GPUs that no package is for")
    return result


def check_packages(
    packages: Sequence[Package], core: Path, sources: Mapping[str, Path], left_out: Sequence[TargetId], folder: Path
) -> str:
    """Install and check one package after the other, in an empty folder; returns what was found, in words."""
    scratch = folder / "code"
    scratch.mkdir()
    environment = Environment(folder / "environment")
    environment.install(core)
    tree = environment.site_packages / CORE
    readers = Readers(compile_shim(folder), bundler(tree=tree), scratch)
    print(f"second opinion: {readers.bundler}")
    search = library_folders([*sources.values(), *environment.files(CORE).values()])
    originals = read_originals(sources, readers, search)
    targets = [one.target for one in packages]
    known = [one.processor for one in [*targets, *left_out]]
    slices = []
    named: dict[tuple[str, str], str] = {}
    for package in packages:
        environment.install(package.wheel)
        files = environment.files(package.tree)
        slices.append(check_package(package, files, originals, readers))
        data = named_files(files, known)
        if others := {processor for processor, _ in data} - {package.target.processor}:
            raise SystemExit(f"{package.wheel.name}: has files whose names say that they are for {sorted(others)}")
        named |= data
        environment.remove(package)
    lost = check_union(originals, slices, targets, left_out)
    check_data(named_files(sources, known), named, left_out)
    what = f"{len(packages)} packages of {len(originals)} libraries and files hold all of their code"
    return f"{what}, {lost} code objects left out, and {len(named)} data files of their targets"


def main() -> int:
    """Check all packages; returns the exit code."""
    arguments = parser().parse_args()
    started = time.monotonic()
    packages, core = find_packages(arguments.dist), find_core(arguments.dist)
    sources = dict(artifact_files(arguments.artifacts))
    with tempfile.TemporaryDirectory(prefix="rocm-thin-") as folder:
        print(check_packages(packages, core, sources, list(map(parse_target_id, arguments.left_out)), Path(folder)))
    print(f"{time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
