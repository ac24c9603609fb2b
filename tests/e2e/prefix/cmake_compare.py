"""Compares what tools/fetch/prefix reads from the CMake packages of an install prefix with what CMake itself finds.

    python3 -B -m tests.e2e.prefix.cmake_compare --prefix DIR [--cmake PROGRAM]

Run it from the top of the workspace, with CMake 3.25 or newer and a C++ compiler. Each package has a project of its
own, which prints the properties of its targets. All must be equal to those that were read, but for what DIFFERENT
lists. CMake gets a copy of the packages: it follows links, and in a merged prefix each file is one.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.fetch.prefix.cmake_export import Export, read_export
from tools.fetch.prefix.packages import configurations
from tools.fetch.prefix.prefix_files import ROOT, PrefixFiles

PROPERTIES = (
    "IMPORTED_LOCATION",
    "IMPORTED_SONAME",
    "INTERFACE_COMPILE_DEFINITIONS",
    "INTERFACE_COMPILE_OPTIONS",
    "INTERFACE_INCLUDE_DIRECTORIES",
    "INTERFACE_LINK_LIBRARIES",
    "INTERFACE_LINK_OPTIONS",
    "INTERFACE_SOURCES",
)
#: What differs, and why: only a run of CMake knows the compiler and the GPUs of the machine.
DIFFERENT = {
    ("hip::host", "INTERFACE_LINK_LIBRARIES"): "hip-config-amd.cmake asks the compiler for its builtins library",
    ("hip::device", "INTERFACE_LINK_LIBRARIES"): "the same, and the GPUs of the machine",
    ("hip::device", "INTERFACE_COMPILE_OPTIONS"): "the GPUs of the machine",
    ("hip-lang::device", "INTERFACE_LINK_OPTIONS"): "hip-lang-config.cmake asks the compiler for its builtins library",
}
PROJECT = r"""
cmake_minimum_required(VERSION 3.25)
project(probe CXX)
find_package({name} CONFIG REQUIRED)
foreach(target IN ITEMS {targets})
  if(NOT TARGET "${{target}}")
    continue()
  endif()
  message("RESULT ${{target}}|")
  foreach(property IN ITEMS {properties})
    get_target_property(value "${{target}}" "${{property}}")
    if(value)
      message("RESULT ${{target}}|${{property}}|${{value}}")
    endif()
  endforeach()
endforeach()
"""
#: The properties of each target.
Found = dict[str, dict[str, str]]


def copy_prefix(prefix: Path, copy: Path) -> None:
    """Copy the CMake files of a prefix, and link to all others."""
    for directory, _, names in os.walk(prefix, followlinks=False):
        place = copy / Path(directory).relative_to(prefix)
        place.mkdir(parents=True, exist_ok=True)
        for name in names:
            source = Path(directory, name)
            if name.endswith(".cmake"):
                shutil.copyfile(source, place / name)
            else:
                (place / name).symlink_to(source.resolve())


def properties_of(export: Export, prefix: Path) -> Found:
    """Return the properties that were read, with the paths that they have in a prefix."""
    found: Found = {}
    for name, target in export.targets.items():
        read = {
            one: target.configured(one) if one.startswith("IMPORTED") else target.properties.get(one, "")
            for one in PROPERTIES
        }
        found[name] = {one: value.replace(ROOT, str(prefix)) for one, value in read.items() if value}
    return found


def with_cmake(cmake: str, prefix: Path, name: str, place: Path, targets: list[str]) -> Found | str:
    """Return the properties that CMake finds for the package in the directory `place`, or the error that ends it."""
    configured = [f"IMPORTED_{kind}" for kind in ("LOCATION", "SONAME")]
    wanted = [*PROPERTIES, *(f"{one}_{end}" for one in configured for end in ("RELEASE", "RELWITHDEBINFO", "NONE"))]
    with tempfile.TemporaryDirectory() as directory:
        text = PROJECT.format(name=name, targets=" ".join(f'"{one}"' for one in targets), properties=" ".join(wanted))
        Path(directory, "CMakeLists.txt").write_text(text, encoding="utf-8")
        paths = (f"-DCMAKE_PREFIX_PATH={prefix};{prefix}/lib/llvm", f"-D{name}_DIR={place}")
        command = [cmake, "-S", directory, "-B", f"{directory}/build", *paths]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line.strip() for line in done.stderr.partition("CMake Error")[2].splitlines()]
        return " ".join(line for line in lines if line)[:160]
    found: Found = {}
    for line in done.stderr.splitlines():
        if line.startswith("RESULT "):
            target, _, rest = line.removeprefix("RESULT ").partition("|")
            known = found.setdefault(target, {})
            key, _, value = rest.partition("|")
            for kind in configured:
                key = kind if key.startswith(kind) else key
            if key:
                known.setdefault(key, value)
    return found


def differences(name: str, read: Found, cmake: Found) -> list[str]:
    """Return what differs, one line for each property, but for what DIFFERENT lists."""
    lines = [f"{name}: {one}: only {'read' if one in read else 'CMake has it'}" for one in sorted({*read} ^ {*cmake})]
    for target in sorted({*read} & {*cmake}):
        for key in PROPERTIES:
            left, right = read[target].get(key, ""), cmake[target].get(key, "")
            if left != right and (target, key) not in DIFFERENT:
                lines.append(f"{name}: {target}: {key}: read {left!r}, CMake has {right!r}")
    return lines


def main(argv: list[str]) -> int:
    """Compare all packages; return 1 if something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", type=Path, required=True, help="an install prefix")
    parser.add_argument("--cmake", default="cmake", help="the program")
    args = parser.parse_args(argv)
    wrong: list[str] = []
    compared = 0
    with tempfile.TemporaryDirectory() as directory:
        prefix = Path(directory).resolve()
        copy_prefix(args.prefix, prefix)
        for name, path in sorted(configurations(prefix).items()):
            export = read_export(PrefixFiles(prefix), path, name)
            place = (prefix / path.removeprefix(f"{ROOT}/")).parent
            cmake = with_cmake(args.cmake, prefix, name, place, list(export.targets))
            if isinstance(cmake, str):
                print(f"{name}: CMake ends with an error{'' if export.notes else ', reading had no note'}: {cmake}")
                continue
            compared += len(cmake)
            wrong += differences(name, properties_of(export, prefix), cmake)
    print(*wrong, f"{compared} targets compared, {len(wrong)} differences", sep="\n")
    return int(bool(wrong) or not compared)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
