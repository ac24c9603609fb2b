"""Installs each set of packages alone, and asks it for all that a user of that set has.

    python3 -B -m tests.e2e.install.package_sets --dist DIR [--target gfx90a] [--set EXTRAS]

Run it from the top of the workspace, where the packages find their libc: in a Debian 13 root for ROCm 5.7, in a root of
unstable for newer ones (debian_root.sh makes both). Each set gets an environment of its own. With devel, programs are
built by `hipcc` and by CMake, with `CMAKE_PREFIX_PATH` alone and after `rocm-sdk env`; on a machine without a GPU they
say so. It prints a table, and ends with 1 if something fails.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.install.real_rocm import Installation, check_all, check_installation, install
from tests.e2e.install.real_rocm_programs import MAIN, compile_object, compile_program
from tests.e2e.testing.commands import attempt, run

#: The extras of each set. Packages of device code are for GPUs, which are not here.
SETS = ("", "libraries", "devel", "libraries,devel")
NO_DEVICE = "hipErrorNoDevice\n"
PROJECT = """\
cmake_minimum_required(VERSION 3.16)
project(consumer CXX)
find_package(hip CONFIG REQUIRED)
add_executable(consumer consumer.cpp)
target_link_libraries(consumer hip::host)
"""
ASK = """
import ctypes, rocm_sdk
hip = ctypes.CDLL(str(rocm_sdk.find_libraries("amdhip64")[0]))
hip.hipGetErrorName.restype = ctypes.c_char_p
print(hip.hipGetErrorName(hip.hipGetDeviceCount(ctypes.byref(ctypes.c_int()))).decode())
"""


@dataclass(frozen=True)
class Case:
    """An installed set, and where its programs are built."""

    installed: Installation
    target: str
    scratch: Path

    def sdk(self, *arguments: str) -> str:
        """Run `rocm-sdk`; return what it prints."""
        return run(self.installed.bin / "rocm-sdk", *arguments)

    def source(self, name: str, text: str) -> Path:
        """Write a source file."""
        path = self.scratch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


def runtime(case: Case) -> None:
    """Load the HIP runtime in Python: it says that there is no GPU."""
    assert run(case.installed.bin / "python", "-c", ASK) == NO_DEVICE


def compiles(case: Case) -> None:
    """Compile an object file with code for the GPU by `hipcc`."""
    compile_object(case.installed.bin / "hipcc", case.target, case.scratch)


def links(case: Case) -> None:
    """Link a program by `hipcc`, and run it: where the loader finds the runtime, and after `rocm-sdk env`."""
    devel = Path(case.sdk("path", "--root").strip())
    compile_program(devel, case.installed.bin / "hipcc", case.target, case.scratch)


def _cmake(case: Case, name: str, environ: dict[str, str]) -> None:
    folder = case.source(f"{name}/CMakeLists.txt", PROJECT).parent
    case.source(f"{name}/consumer.cpp", "#define __HIP_PLATFORM_AMD__ 1\n#include <hip/hip_runtime_api.h>\n" + MAIN)
    run("cmake", "-S", folder, "-B", folder / "build", "-DHIP_PLATFORM=amd", **environ)
    run("cmake", "--build", folder / "build", **environ)
    assert run(folder / "build/consumer") == NO_DEVICE


def cmake_alone(case: Case) -> None:
    """Build with CMake, which finds HIP by `CMAKE_PREFIX_PATH`, and run the program."""
    _cmake(case, "alone", {"CMAKE_PREFIX_PATH": case.sdk("path", "--root").strip()})


def cmake_with_env(case: Case) -> None:
    """Do the same after `eval "$(rocm-sdk env)"`."""
    _cmake(case, "with env", json.loads(case.sdk("env", "--shell", "json")))


def self_test(case: Case) -> None:
    """Run `rocm-sdk test`, which finds nothing wrong that the input does not explain."""
    check_installation(case.installed)


def doctor(case: Case) -> None:
    """Run `rocm-sdk doctor`, which finds no problem that the input does not explain, and nothing to warn of."""
    report = json.loads(attempt(case.installed.bin / "rocm-sdk", "doctor", "--json").stdout)
    said = [one["text"] for one in report["findings"] if one["severity"] != "note"]
    check_all("rocm-sdk doctor", {text: text for text in said}, case.installed.libraries())


#: What each set is asked for; what needs the devel package is asked of sets with it.
QUESTIONS: dict[str, tuple[Callable[[Case], None], bool]] = {
    "HIP says that there is no GPU": (runtime, False),
    "`hipcc -c`": (compiles, False),
    "`hipcc`, and run": (links, True),
    "CMake alone": (cmake_alone, True),
    "CMake with `rocm-sdk env`": (cmake_with_env, True),
    "`rocm-sdk test`": (self_test, False),
    "`rocm-sdk doctor`": (doctor, False),
}


def answers(case: Case, extras: str) -> Iterator[str]:
    """Yield `yes`, or what went wrong, for each question; nothing to ask is `–`."""
    for question, (ask, needs_devel) in QUESTIONS.items():
        if needs_devel and "devel" not in extras:
            yield "–"
            continue
        try:
            ask(case)
            yield "yes"
        except (AssertionError, SystemExit) as error:
            print(f"rocm[{extras}]: {question}: {error}", file=sys.stderr)
            yield "NO"


def main() -> int:
    """Ask all sets, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, required=True, help="directory of the distributions, with its index.html")
    parser.add_argument("--target", default="gfx90a", help="the GPU to compile for (%(default)s)")
    parser.add_argument("--set", action="append", choices=SETS, help="only a set with these extras; all by default")
    args = parser.parse_args()
    rows = [["set", *QUESTIONS], ["---"] * (len(QUESTIONS) + 1)]
    for extras in args.set or SETS:
        with tempfile.TemporaryDirectory(prefix="rocm-sets-") as name:
            installed = install(args.dist, Path(name, "environment"), args.target, extras)
            case = Case(installed, args.target, Path(name))
            rows.append([f"`rocm[{extras}]`" if extras else "`rocm`", *answers(case, extras)])
    print("\n".join(f"| {' | '.join(row)} |" for row in rows))
    return any("NO" in row for row in rows)


if __name__ == "__main__":
    raise SystemExit(main())
