"""Finds each CMake package of the development tree, and links a program with each library that it offers.

    python3 -B -m tests.e2e.install.cmake_packages --dist DIR --results FILE [--like FILE]

Run it from the top of the workspace in a root with CMake (tests/e2e/roots). Each package has a project of its own,
built with the tree's compiler; no build may change what is installed. The results (which packages are found, which
targets they offer, and how the linked programs end) go into a file; with `--like` they must equal those in another, of
packages with another layout of the development tree.
"""

import argparse
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.e2e.install.real_rocm import Installation, install
from tests.e2e.testing.commands import attempt, run

SCRATCH = "rocm-cmake-"
#: What came of each package.
Results = dict[str, dict[str, Any]]

PROJECT = r"""
cmake_minimum_required(VERSION 3.25)
project(probe CXX)
find_package({name} CONFIG)
message("RESULT found ${{{name}_FOUND}}")
get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
foreach(target IN LISTS targets)
  get_target_property(type ${{target}} TYPE)
  message("RESULT ${{target}} ${{type}}")
  if(type STREQUAL "SHARED_LIBRARY")
    string(MAKE_C_IDENTIFIER use_${{target}} identifier)
    add_executable(${{identifier}} main.cpp)
    target_link_libraries(${{identifier}} PRIVATE ${{target}})
    target_link_options(${{identifier}} PRIVATE -Wl,--no-as-needed)
    message("RESULT program ${{identifier}}")
  endif()
endforeach()
"""
MAIN = "int main() { return 0; }\n"


def configs(root: Path) -> dict[str, Path]:
    """Return the CMake packages that a prefix offers, each with the folder of its configuration."""
    found: dict[str, Path] = {}
    for path in sorted(root.rglob("*onfig.cmake"), key=lambda path: (len(path.parts), path)):
        if match := re.fullmatch(r"(?:(.+)Config|(.+)-config)\.cmake", path.name):
            found.setdefault(match[1] or match[2], path.parent)
    return found


def without_place(text: str) -> str:
    """Return a text without the directory of this run."""
    return re.sub(rf"\S+/{SCRATCH}[^/]+", "", text)


def probe(name: str, folder: Path, root: Path, scratch: Path) -> dict[str, Any]:
    """Configure and build the project of one package, and run its programs; return what came of it."""
    source, build = scratch / name / "source", scratch / name / "build"
    source.mkdir(parents=True)
    (source / "CMakeLists.txt").write_text(PROJECT.format(name=name))
    (source / "main.cpp").write_text(MAIN)
    compiler, prefix = f"-DCMAKE_CXX_COMPILER={root}/lib/llvm/bin/clang++", f"-DCMAKE_PREFIX_PATH={root}"
    configured = attempt("cmake", "-S", source, "-B", build, compiler, prefix, f"-D{name}_DIR={folder}")
    said = [line.removeprefix("RESULT ") for line in configured.stderr.splitlines() if line.startswith("RESULT ")]
    programs = [line.removeprefix("program ") for line in said if line.startswith("program ")]
    if not configured.returncode:
        attempt("cmake", "--build", build, "--", "--keep-going")
    ends = {one: attempt(build / one) for one in programs if (build / one).exists()}
    return {
        "complaint": without_place(configured.stderr) if configured.returncode else "",
        "said": said,
        "not linked": [name for name in programs if name not in ends],
        "programs": {name: [end.returncode, without_place(end.stderr)] for name, end in ends.items()},
    }


def _protect(installed: Installation) -> None:
    """Take the permission to write from everything that is installed; root may still, so the times tell."""
    for directory, _, files in os.walk(installed.site_packages):
        for path in [Path(directory), *(Path(directory, name) for name in files)]:
            if not path.is_symlink():
                path.chmod(path.stat().st_mode & ~0o222)


def _state(installed: Installation) -> dict[str, int]:
    """Return when each path was changed; Python writes caches of modules whenever it may."""
    found = (path for path in installed.site_packages.rglob("*") if "__pycache__" not in path.parts)
    return {str(path): path.lstat().st_mtime_ns for path in found if not path.is_dir()}


def check(results: Results) -> None:
    """Print what came; end the program if nothing was tried, or a linked program fails."""
    found = [one for one, result in results.items() if "found 1" in result["said"]]
    programs = {name: ended for result in results.values() for name, ended in result["programs"].items()}
    missing = sorted({name for result in results.values() for name in result["not linked"]} - {*programs})
    print(f"{len(found)} of {len(results)} packages found; {len(programs)} programs linked, not {missing}")
    assert len(found) >= 10, found
    assert len(programs) >= 10, programs
    assert not any(status for status, _ in programs.values()), programs


def compare(results: Results, other: Results) -> None:
    """End the program if the results differ from others."""
    names = sorted(one for one in {*other, *results} if other.get(one) != results.get(one))
    if names:
        sys.exit("\n".join(f"{one}: {results.get(one)}; expected {other.get(one)}" for one in names))
    print("the same as with the other layout")


def main() -> int:
    """Probe all packages, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, required=True, help="directory of the distributions, with its index.html")
    parser.add_argument("--results", type=Path, required=True, help="file to write")
    parser.add_argument("--like", type=Path, help="results that must come")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix=SCRATCH) as name:
        scratch = Path(name)
        installed = install(args.dist, scratch / "environment", "gfx90a")
        root = Path(run(installed.bin / "rocm-sdk", "path", "--root").strip())
        _protect(installed)
        before = _state(installed)
        results = {one: probe(one, folder, root, scratch / "probes") for one, folder in sorted(configs(root).items())}
        assert _state(installed) == before, "a build changed what is installed"
    args.results.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    check(results)
    if args.like:
        compare(results, json.loads(args.like.read_text()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
