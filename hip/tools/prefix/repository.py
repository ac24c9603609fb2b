"""Writes the files of a repository such as `@rocm`, for the repository rule behind `hip.sdk`.

It merges the manifests' artifacts, or a directory in which an SDK is installed, to the install prefix `prefix` in the
output directory. Then it writes `BUILD.bazel`: a library for each CMake package, programs, and the compiler of HIP
programs. What packages name and the prefix lacks is in `left_out.txt`.
"""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hip.tools.prefix.build_file import (
    PREFIX,
    Compiler,
    call,
    find_compiler,
    libraries_text,
    quoted_list,
    toolchain_text,
)
from hip.tools.prefix.merge import merge
from hip.tools.prefix.packages import left_out, read_packages, require_libraries
from hip.tools.prefix.plan import RESERVED, Target, plan_shared_libraries, plan_targets
from hip.tools.prefix.shared_libraries import SharedLibraries
from lib.common.arguments import read_arguments
from lib.wheel.devel_tree import DevelTree, DevelTreeError
from tools.fetch.catalog.catalog import report
from tools.fetch.catalog.names import CatalogError, escape

_HEAD = """\
# Written when this repository was fetched: from the CMake packages, programs and ELF headers in prefix/.

load(
    "@rules_rocm_python//hip:sdk_repository.bzl",
    "hip_no_toolchain",
    "hip_targets",
    "hip_toolchain",
    "rocm_library",
    "rocm_program",
    "rocm_shared_library",
)

package(default_visibility = ["//visibility:public"])

# The GPU targets and families to compile for.
hip_targets(
    name = "targets",
    build_setting_default = {targets},
    option = "@rocm//:targets",
)
"""
#: Why an SDK cannot compile: it lacks the compiler, or the runtime.
NO_COMPILER = (
    "the SDK @rocm has no clang for HIP; expected lib/llvm/bin/clang in it. Add the compiler: of artifacts, "
    "amd-llvm; of Debian's packages, hipcc"
)
NO_RUNTIME = (
    "the SDK @rocm has no CMake package hip; expected the HIP runtime. Add it: of artifacts, core-hip; of Debian's "
    "packages, libamdhip64-dev. If CMake refused the package, left_out.txt in the repository says why"
)
#: The target of the HIP runtime, which the compiler's toolchain names.
RUNTIME = "hip"
#: Debian's names of programs of LLVM that end with its version.
VERSIONED = re.compile(r".*-\d+")
#: Programs of LLVM that people call; the others are for whoever works on compilers.
OF_LLVM = ("amdgpu-arch", "clang", "clang++", "clang-offload-bundler", "llvm-objdump", "llvm-readelf", "offload-arch")


def find_programs(prefix: Path, compiler: Compiler | None) -> dict[str, str]:
    """Return the paths of programs in the prefix by name, sorted; those alone whose names a target can have."""
    found = {name: compiler.program(name) for name in OF_LLVM} if compiler else {}
    directory = prefix / "bin"
    names = os.listdir(directory) if directory.is_dir() else []  # noqa: PTH208
    found |= {name: f"bin/{name}" for name in names if not VERSIONED.fullmatch(name)}
    return {name: path for name, path in sorted(found.items()) if escape(name) == name and _runs(prefix / path)}


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def program_calls(prefix: Path, compiler: Compiler | None, taken: set[str]) -> Iterator[str]:
    """Yield the call of `rocm_program` for each program, except those that are called as another target is."""
    shared = SharedLibraries(prefix)
    for name, path in find_programs(prefix, compiler).items():
        if name not in taken and name not in RESERVED:
            needed = [f":{library}" for library in shared.closure(path)]
            yield call("rocm_program", name=name, needed=needed, program=f"{PREFIX}/{path}")


def headers_of(libraries: Sequence[Target]) -> dict[str, str]:
    """Return the label of the library of each directory of headers, `rocblas` for `include/rocblas`, for messages."""
    all_names = {library.name for library in libraries}
    owned: dict[str, list[str]] = {}
    for library in libraries:
        for pattern in library.hdrs:
            directory, _, rest = pattern.removeprefix("include/").partition("/")
            if pattern.startswith("include/") and rest:
                owned.setdefault(directory, []).append(library.name)
    return {one: f"@rocm//:{one if one in all_names else min(names)}" for one, names in owned.items()}


def build_text(prefix: Path, cmake: Path, targets: Sequence[str]) -> tuple[str, list[str]]:
    """Return the text of the BUILD file, and what the CMake packages name and it leaves out. `cmake` is the program.

    Raises CatalogError for an SDK that cannot be used.
    """
    compiler = find_compiler(prefix)
    packages = read_packages(prefix, cmake)
    require_libraries(prefix, packages)
    libraries = plan_targets(prefix, packages)
    names = {library.name for library in libraries}
    programs = find_programs(prefix, compiler)
    text = libraries_text(libraries, plan_shared_libraries(prefix, libraries, programs.values()))
    parts = [_HEAD.format(targets=quoted_list(targets)), text]
    if compiler and RUNTIME in names:
        parts.append(toolchain_text(compiler, prefix, f":{RUNTIME}", headers_of(libraries)))
    else:
        reason = NO_RUNTIME if compiler else NO_COMPILER
        parts.append(call("hip_no_toolchain", name="hip_compiler", reason=reason))
    parts += program_calls(prefix, compiler, names)
    return "\n".join(parts), left_out(packages)


def make_links(package: Path, tree: Path) -> None:
    """Make the links of a development tree, which the Python package in `package` lists. Raises CatalogError."""
    try:
        DevelTree(str(package), command="bazel fetch", tree=tree.name).root(verify=True)
    except DevelTreeError as error:
        raise CatalogError(str(error)) from None


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule."""

    output: Path  #: Directory of the repository.
    cmake: Path  #: CMake, which reads the packages.
    target: list[str]  #: GPU targets to compile for.
    tree: Path | None  #: Directory in which an SDK is installed.
    devel: Path | None  #: Directory of the Python package that lists the links of the tree.
    beside: list[Path]  #: Directories with files of the SDK that the tree lacks.
    manifest: list[Path]  #: Artifacts' manifests.


def write(args: Arguments) -> None:
    """Write the repository. Raises CatalogError for an SDK that cannot be used."""
    if args.tree and args.devel:
        make_links(args.devel, args.tree)
    prefix = args.output / PREFIX
    merge(args.manifest, prefix, args.tree, args.beside)
    text, notes = build_text(prefix, args.cmake, args.target)
    (args.output / "BUILD.bazel").write_text(text, encoding="utf-8")
    lines = "".join(f"{' '.join(note.split())}\n" for note in notes)
    (args.output / "left_out.txt").write_text(lines, encoding="utf-8")


def main(argv: list[str]) -> int:
    """Run the program; return 1, with one message on standard error, when the input cannot be used."""
    return report(lambda: write(read_arguments(Arguments, argv)))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
