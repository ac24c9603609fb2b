"""Finds the compiler of HIP programs in an install prefix, and declares it as a toolchain for Bazel."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hip.tools.prefix.build_file import PREFIX, placed_list
from hip.tools.prefix.shared_libraries import SharedLibraries
from tools.fetch.catalog.names import CatalogError

#: Where SDKs have LLVM, by release: a directory with `bin` and `lib`. Of Debian's, the newest counts.
LLVM = ("lib/llvm", "llvm", "lib64/llvm", "lib/llvm-*", "")
#: Header of clang's resource directory: without it, clang compiles no HIP.
WRAPPER = "include/__clang_hip_runtime_wrapper.h"
#: One of the device libraries, and where their directory is, in the resource directory or in the prefix.
DEVICE_LIBRARY = "ocml.bc"
BITCODE = ("amdgcn/bitcode", "lib/amdgcn/bitcode")
#: The programs of a toolchain.
PROGRAMS = ("clang", "clang-offload-bundler", "lld")
#: What they call: clang calls lld by this name, and clang-offload-bundler does not start without llvm-objcopy.
CALLED = ("ld.lld", "llvm-objcopy")
#: The library that writes the counts of coverage, in the resource directory.
PROFILE = ("lib/linux/libclang_rt.profile-x86_64.a", "lib/x86_64-unknown-linux-gnu/libclang_rt.profile.a")
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
{headers}    libraries = {libraries},
    lld = "{prefix}/{lld}",
{profile}    resource_directory = "{resource_directory}",
    runtime = "{runtime}",
    targets = ":targets",
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
    places = [place for place in _llvm_places(prefix) if (prefix / place / "bin/clang").exists()]
    if not places:
        return None
    # Of several, only some may be for HIP: Debian has a package with device libraries for each release of LLVM that is.
    llvm = next((place for place in places if _has_device_libraries(prefix / place)), places[0])
    for name in ("lld", "clang-offload-bundler"):
        _expect(prefix, [_join(llvm, "bin", name)], "which compiles device code")
    wrappers = prefix.glob(_join(llvm, "lib/clang/*", WRAPPER))
    resources = sorted((wrapper.parents[1] for wrapper in wrappers), key=_release)
    if not resources:
        _expect(prefix, [_join(llvm, "lib/clang/*", WRAPPER)], "which clang includes in HIP sources")
    resource_directory = resources[-1].relative_to(prefix).as_posix()
    around = (resource_directory, llvm, "")
    places = [_join(place, bitcode) for place in around for bitcode in BITCODE]
    found = _expect(prefix, [_join(place, DEVICE_LIBRARY) for place in places], "with the device libraries")
    return Compiler(llvm, resource_directory, found.rpartition("/")[0])


def _llvm_places(prefix: Path) -> list[str]:
    """Return the directories of LLVM in a prefix, in the order in which they count."""
    found = [sorted(prefix.glob(place), key=_release, reverse=True) if place else [prefix] for place in LLVM]
    return [path.relative_to(prefix).as_posix().removeprefix(".") for paths in found for path in paths]


def _has_device_libraries(llvm: Path) -> bool:
    """Return whether device libraries are in a directory of LLVM, or in clang's resource directory in it."""
    places = [_join(around, bitcode, DEVICE_LIBRARY) for around in ("", "lib/clang/*") for bitcode in BITCODE]
    return any(found for place in places for found in llvm.glob(place))


def _release(directory: Path) -> tuple[list[int], str]:
    """Return by what directories are sorted: they are named by clang's release, such as `9`, `22.0.1` or `llvm-22`."""
    return [int(number) for number in re.findall(r"[0-9]+", directory.name)], directory.name


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


def toolchain_text(compiler: Compiler, prefix: Path, runtime: str, headers: Mapping[str, str] | None = None) -> str:
    """Return the part of a BUILD file that declares `hip_toolchain`.

    `runtime` is the label of the HIP runtime, `headers` the library of each directory of headers.
    """
    shared = SharedLibraries(prefix)
    programs = [compiler.program(name) for name in PROGRAMS]
    libraries = sorted({library for program in programs for library in shared.closure(program)})
    patterns = [_join(compiler.resource_directory, "include/**"), _join(compiler.device_libraries, "*.bc")]
    files = [path for path in (*map(compiler.program, CALLED), *VERSIONS) if (prefix / path).is_file()]
    places = [_join(compiler.resource_directory, place) for place in PROFILE]
    profile = next((path for path in places if (prefix / path).is_file()), None)
    entries = [f'        "{name}": "{library}",\n' for name, library in sorted((headers or {}).items())]
    return _TOOLCHAIN.format(
        bundler=compiler.program("clang-offload-bundler"),
        clang=compiler.program("clang"),
        device_libraries=compiler.device_libraries,
        files=f" + {placed_list(files, '    ')}" if files else "",
        patterns=placed_list(patterns, "    "),
        libraries=placed_list(libraries, "    "),
        headers="    headers = {\n" + "".join(entries) + "    },\n" if entries else "",
        lld=compiler.program("lld"),
        profile=f'    profile_runtime = "{PREFIX}/{profile}",\n' if profile else "",
        prefix=PREFIX,
        resource_directory=compiler.resource_directory,
        runtime=runtime,
    )
