"""The programs of an install prefix, each as a target."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from hip.tools.prefix.build_file import PREFIX, call
from hip.tools.prefix.compiler import Compiler
from hip.tools.prefix.plan import RESERVED
from hip.tools.prefix.shared_libraries import SharedLibraries
from tools.fetch.catalog.names import escape

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
