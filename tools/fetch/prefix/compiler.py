"""Finds the compiler of HIP programs in an install prefix, and declares it as a toolchain for Bazel."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.fetch.catalog.names import CatalogError

#: Where SDKs have LLVM, by release: a directory with `bin` and `lib`.
LLVM = ("lib/llvm", "llvm", "lib64/llvm", "")
#: Header of clang's resource directory: without it, clang compiles no HIP.
WRAPPER = "include/__clang_hip_runtime_wrapper.h"
#: One of the device libraries, and where their directory is, in the resource directory or in the prefix.
DEVICE_LIBRARY = "ocml.bc"
BITCODE = ("amdgcn/bitcode", "lib/amdgcn/bitcode")


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
    resources = sorted(prefix.glob(_join(llvm, "lib/clang/*", WRAPPER)))
    if not resources:
        _expect(prefix, [_join(llvm, "lib/clang/*", WRAPPER)], "which clang includes in HIP sources")
    resource_directory = resources[-1].parents[1].relative_to(prefix).as_posix()
    around = (resource_directory, llvm, "")
    places = [_join(place, bitcode) for place in around for bitcode in BITCODE]
    found = _expect(prefix, [_join(place, DEVICE_LIBRARY) for place in places], "with the device libraries")
    return Compiler(llvm, resource_directory, found.rpartition("/")[0])


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


def _literal(value: str | Sequence[str]) -> str:
    """Return the text of a string or a list of such in Starlark."""
    return json.dumps(value, ensure_ascii=False)


def toolchain_text(compiler: Compiler, directory: str, runtime: str) -> str:
    """Return the part of a BUILD file that declares `hip_toolchain`.

    `directory` is the install prefix in the repository, and `runtime` the label of the HIP runtime.
    """

    def inside(*paths: str) -> list[str]:
        return [_join(directory, path) for path in paths]

    libraries = inside(
        "lib/libLLVM*.so*", "lib/libclang*.so*", "lib/rocm_sysdeps/lib/*.so*", _join(compiler.llvm, "lib/*.so*")
    )
    files = inside(_join(compiler.resource_directory, "include/**"), _join(compiler.device_libraries, "*.bc"))
    # clang calls lld by this name, and includes its header for HIP only if it finds the version of the HIP runtime.
    # clang-offload-bundler refuses to start without llvm-objcopy.
    programs = inside(compiler.program("ld.lld"), compiler.program("llvm-objcopy"))
    files += [*programs, *inside("bin/.hipVersion", "share/hip/version")]
    return f"""
hip_toolchain(
    name = "hip_compiler",
    bundler = {_literal(inside(compiler.program("clang-offload-bundler"))[0])},
    clang = {_literal(inside(compiler.program("clang"))[0])},
    clang_path = {_literal(compiler.program("clang"))},
    device_libraries = {_literal(compiler.device_libraries)},
    files = glob({_literal(files)}),
    libraries = glob({_literal(libraries)}, allow_empty = True),
    lld = {_literal(inside(compiler.program("lld"))[0])},
    resource_directory = {_literal(compiler.resource_directory)},
    runtime = {_literal(runtime)},
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
