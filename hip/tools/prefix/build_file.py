"""Writes parts of the BUILD file of the repository of an install prefix.

    text = libraries_text(plan_targets(prefix, packages))

Files are labels of the repository, in which the prefix is the directory `prefix`: `prefix/lib/librocblas.so.5`.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hip.tools.prefix.library_files import ALL_HEADERS
from hip.tools.prefix.plan import Target
from hip.tools.prefix.shared_libraries import SharedLibraries
from tools.fetch.catalog.names import CatalogError

#: The directory of the prefix in the repository.
PREFIX: Final = "prefix"
#: The build setting with the GPU targets to compile for.
TARGETS: Final = ":targets"


def _quoted(text: str) -> str:
    """Return a string as Starlark reads it: as JSON does, except characters beyond its escapes."""
    return json.dumps(text, ensure_ascii=False)


def _list(values: Iterable[str], indent: str) -> str:
    """Return a list as buildifier formats it: one value in its line, several one a line."""
    quoted = [_quoted(one) for one in values]
    if len(quoted) <= 1:
        return f"[{''.join(quoted)}]"
    return "[\n" + "".join(f"{indent}    {one},\n" for one in quoted) + f"{indent}]"


def _strings(values: Sequence[str]) -> str:
    """Return the value of an attribute that is a list; empty if the list is."""
    return _list(values, "    ") if values else ""


def _glob(patterns: Sequence[str]) -> str:
    return f"glob({_strings(patterns)})" if patterns else ""


def _dictionary(values: Mapping[str, Sequence[str]]) -> str:
    """Return the value of an attribute that is a dictionary of lists; empty if the dictionary is."""
    lines = [f"        {_quoted(key)}: {_list(one, '        ')},\n" for key, one in values.items()]
    return f"{{\n{''.join(lines)}    }}" if lines else ""


def _placed(paths: Iterable[str]) -> list[str]:
    return [f"{PREFIX}/{path}" if path else PREFIX for path in paths]


def _attributes(target: Target) -> Iterable[tuple[str, str]]:
    """Return the attributes that are not empty, in buildifier's order, each with its value."""
    headers = _placed(one for one in target.hdrs if one != ALL_HEADERS)
    values = {
        "name": _quoted(target.name),
        "hdrs": _glob(headers) or _strings(target.hdrs),
        "data": _glob(_placed(target.data)),
        "data_for": _dictionary(target.data_for),
        "defines": _strings(target.defines),
        "includes": _strings(_placed(target.includes)),
        "linked": _strings([f":{one}" for one in target.linked]),
        "linkopts": _strings(target.linkopts),
        "needed": _strings([f":{one}" for one in target.needed]),
        "shared_library": target.shared_library and _quoted(f":{target.shared_library}"),
        "static_library": target.static_library and _quoted(f"{PREFIX}/{target.static_library}"),
        "targets": _quoted(TARGETS) if target.data_for else "",
        "deps": _strings(sorted(f":{one}" for one in target.deps)),
    }
    return [(name, value) for name, value in values.items() if value]


def _call(rule: str, attributes: Iterable[tuple[str, str]]) -> str:
    return f"{rule}(\n" + "".join(f"    {name} = {value},\n" for name, value in attributes) + ")\n"


def quoted_list(values: Iterable[str]) -> str:
    """Return a list of strings as the value of an attribute."""
    return _list(values, "    ")


def placed_list(paths: Iterable[str], indent: str) -> str:
    """Return a list of paths in the prefix, as labels or patterns of the repository."""
    return _list(_placed(paths), indent)


def call(rule: str, **attributes: str | Sequence[str]) -> str:
    """Return the call of a rule. Attributes that are empty are left out."""
    values = {
        name: _quoted(value) if isinstance(value, str) else _list(value, "    ")
        for name, value in attributes.items()
        if value
    }
    return _call(rule, values.items())


def _shared_library(path: str, has_device_code: bool) -> Iterable[tuple[str, str]]:
    """Yield the attributes of a `rocm_shared_library`; users depend on the `rocm_library`."""
    yield "name", _quoted(path)
    yield "library", _quoted(f"{PREFIX}/{path}")
    if has_device_code:
        yield "targets", _quoted(TARGETS)
    yield "visibility", _list(["//visibility:private"], "    ")


def libraries_text(targets: Sequence[Target], shared_libraries: Mapping[str, bool]) -> str:
    """Return the part of the BUILD file with the libraries, with all headers, and with shared libraries.

    Of each shared library by its path, `shared_libraries` tells whether it has device code in itself.
    """
    headers = ("all_headers", f'glob(\n        ["{PREFIX}/include/**"],\n        allow_empty = True,\n    )')
    parts = [_call("filegroup", [("name", _quoted(headers[0])), ("srcs", headers[1])])]
    parts += [_call("rocm_library", _attributes(target)) for target in targets]
    parts += [_call("rocm_shared_library", _shared_library(*one)) for one in shared_libraries.items()]
    return "\n".join(parts)


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
    resource_directory = "{resource_directory}",
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
        prefix=PREFIX,
        resource_directory=compiler.resource_directory,
        runtime=runtime,
    )
