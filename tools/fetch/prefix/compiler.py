"""Finds the compiler of HIP programs in an install prefix, and declares it as a toolchain for Bazel."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.fetch.catalog.names import CatalogError
from tools.fetch.prefix.build_file import PREFIX, placed_list
from tools.fetch.prefix.shared_libraries import SharedLibraries

#: Where SDKs have LLVM, by release: a directory with `bin` and `lib`.
LLVM = ("lib/llvm", "llvm", "lib64/llvm", "")
#: Header of clang's resource directory: without it, clang compiles no HIP.
WRAPPER = "include/__clang_hip_runtime_wrapper.h"
#: One of the device libraries, and where their directory is, in the resource directory or in the prefix.
DEVICE_LIBRARY = "ocml.bc"
BITCODE = ("amdgcn/bitcode", "lib/amdgcn/bitcode")
#: The programs of a toolchain.
PROGRAMS = ("clang", "clang-offload-bundler", "lld")
#: What they call: clang calls lld by this name, and clang-offload-bundler does not start without llvm-objcopy.
CALLED = ("ld.lld", "llvm-objcopy")
#: The version of the HIP runtime: clang includes its header for HIP only if it finds that.
VERSIONS = ("bin/.hipVersion", "share/hip/version")

_TOOLCHAIN = """\
hip_toolchain(
    name = "hip_compiler",
    bundler = "{prefix}/{bundler}",
    clang = "{prefix}/{clang}",
    clang_path = "{clang}",
    device_libraries = "{device_libraries}",
    files = glob({patterns}){files},
    libraries = {libraries},
    lld = "{prefix}/{lld}",
    resource_directory = "{resource_directory}",
    runtime = "{runtime}",
    targets = ":targets",
)

toolchain(
    name = "hip_toolchain",
    exec_compatible_with = [
        "@platforms//cpu:x86_64",
        "@platforms//os:linux",
    ],
    target_compatible_with = [
        "@platforms//cpu:x86_64",
        "@platforms//os:linux",
    ],
    toolchain = ":hip_compiler",
    toolchain_type = "@rules_rocm_python//rules/hip:toolchain_type",
)
"""


@dataclass(frozen=True)
class Compiler:
    """Paths relative to the install prefix."""

    llvm: str
    resource_directory: str
    device_libraries: str

    def program(self, name: str) -> str:
        """Return the path of a program."""
        return _join(self.llvm, "bin", name)


def find_compiler(prefix: Path) -> Compiler | None:
    """Return the compiler, or None if the prefix has no clang: SDKs may be installed without.

    Raises CatalogError if something that clang needs is missing.
    """
    llvm = next((place for place in LLVM if (prefix / place / "bin/clang").exists()), None)
    if llvm is None:
        return None
    for name in ("lld", "clang-offload-bundler"):
        _expect(prefix, [_join(llvm, "bin", name)], "which compiles device code")
    resources = sorted(prefix.glob(_join(llvm, "lib/clang/*", WRAPPER)), key=_release)
    if not resources:
        _expect(prefix, [_join(llvm, "lib/clang/*", WRAPPER)], "which clang includes in HIP sources")
    resource_directory = resources[-1].parents[1].relative_to(prefix).as_posix()
    around = (resource_directory, llvm, "")
    places = [_join(place, bitcode) for place in around for bitcode in BITCODE]
    found = _expect(prefix, [_join(place, DEVICE_LIBRARY) for place in places], "with the device libraries")
    return Compiler(llvm, resource_directory, found.rpartition("/")[0])


def _release(wrapper: Path) -> tuple[list[int], str]:
    """Return by what resource directories are sorted: they are named by clang's release, such as `9` or `22.0.1`."""
    name = wrapper.parents[1].name
    return [int(number) for number in re.findall(r"[0-9]+", name)], name


def _join(*parts: str) -> str:
    return "/".join(part for part in parts if part)


def _expect(prefix: Path, paths: Sequence[str], what: str) -> str:
    """Return the first of these paths that the prefix has. Raises CatalogError if there is none."""
    for path in paths:
        if (prefix / path).exists():
            return path
    raise CatalogError(
        f"{prefix / paths[0]}: there is no such file, {what}; expected it beside clang. Add the artifact that has it "
        "(amd-llvm), or install the SDK again"
    )


def toolchain_text(compiler: Compiler, prefix: Path, runtime: str) -> str:
    """Return the part of a BUILD file that declares `hip_toolchain`; `runtime` is the label of the HIP runtime."""
    shared = SharedLibraries(prefix)
    programs = [compiler.program(name) for name in PROGRAMS]
    libraries = sorted({library for program in programs for library in shared.closure(program)})
    patterns = [_join(compiler.resource_directory, "include/**"), _join(compiler.device_libraries, "*.bc")]
    files = [path for path in (*map(compiler.program, CALLED), *VERSIONS) if (prefix / path).is_file()]
    return _TOOLCHAIN.format(
        bundler=compiler.program("clang-offload-bundler"),
        clang=compiler.program("clang"),
        device_libraries=compiler.device_libraries,
        files=f" + {placed_list(files, '    ')}" if files else "",
        patterns=placed_list(patterns, "    "),
        libraries=placed_list(libraries, "    "),
        lld=compiler.program("lld"),
        prefix=PREFIX,
        resource_directory=compiler.resource_directory,
        runtime=runtime,
    )
