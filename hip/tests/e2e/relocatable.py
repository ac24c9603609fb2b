"""Device code of several libraries in programs of C++: a part of hip.tests.e2e.programs.

Two HIP libraries call each other's device functions. A library links them, which it reaches through one of C++. A
program, a test and a shared library of C++ depend on it: each has one code object for a GPU, with both functions.
"""

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from lib.device.reader import read_device_code
from lib.elf.reader import read_elf
from tests.e2e.testing.builds import Workspace, built

BUILD = """
load("@rules_rocm_python//hip:defs.bzl", "hip_library")

hip_library(
    name = "ping",
    srcs = ["ping.hip"],
    hdrs = ["rally.h"],
    relocatable = True,
)

hip_library(
    name = "pong",
    srcs = ["pong.hip"],
    hdrs = ["rally.h"],
    relocatable = True,
)

cc_library(
    name = "rally",
    srcs = ["rally.cc"],
    hdrs = ["rally.h"],
    deps = [":ping", ":pong"],
)

hip_library(
    name = "linked",
    link_device = True,
    deps = [":rally"],
)

cc_binary(
    name = "play",
    srcs = ["play.cc"],
    deps = [":linked"],
)

cc_test(
    name = "play_test",
    size = "small",
    srcs = ["play.cc"],
    deps = [":linked"],
)

cc_shared_library(
    name = "shared",
    deps = [":linked", ":rally"],
)
"""
SOURCES = {
    "rally.h": "const char *serve(int balls);\nconst char *launch(int balls);\n",
    "ping.hip": """
#include <hip/hip_runtime.h>
#include "relocatable/rally.h"
extern __device__ int pong(int balls);
__device__ __attribute__((noinline)) int ping(int balls) { return balls > 0 ? pong(balls - 1) : 1; }
__global__ void play(int balls, int *result) { *result = ping(balls); }
const char *launch(int balls) {
  play<<<1, 1>>>(balls, nullptr);
  return hipGetErrorString(hipDeviceSynchronize());
}
""",
    "pong.hip": """
#include <hip/hip_runtime.h>
extern __device__ int ping(int balls);
__device__ __attribute__((noinline)) int pong(int balls) { return balls > 0 ? ping(balls - 1) : 2; }
__global__ void return_ball(int balls, int *result) { *result = pong(balls); }
""",
    "rally.cc": '#include "relocatable/rally.h"\nconst char *serve(int balls) { return launch(balls); }\n',
    "play.cc": '#include <cstdio>\n#include "relocatable/rally.h"\nint main() { std::puts(serve(3)); }\n',
}
#: What each code object defines: kernels, and the functions of both sources.
DEFINED = {"_Z4playiPi", "_Z11return_balliPi", "_Z4pingi", "_Z4pongi"}
RUNTIME = "libamdhip64.so"


def symbols_of(code: bytes) -> dict[str, str]:
    """Return the functions of a code object, and the index of each one's section: `UND` if another has to define it."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(code)
        file.flush()
        command = ["readelf", "--symbols", "--wide", file.name]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    fields = [line.split() for line in lines]
    return {one[7]: one[6] for one in fields if len(one) > 7 and one[3] in ("FUNC", "NOTYPE")}


def functions_of(program: Path) -> dict[str, set[str]]:
    """Return the functions that each code object of a program defines, by its GPU. Fails if one is undefined."""
    found: dict[str, set[str]] = {}
    with program.open("rb") as file:
        for bundle in read_device_code(file, str(program)).bundles:
            for code in (one for one in bundle.code_objects if one.entry.target):
                file.seek(bundle.offset + code.offset)
                symbols = symbols_of(file.read(code.size))
                assert "UND" not in symbols.values(), f"{program}: {code.entry.target}: {symbols}"
                target = str(code.entry.target)
                assert target not in found, f"{program}: more than one code object for {target}"
                found[target] = set(symbols)
    return found


def check_relocatable(workspace: Workspace, given: Sequence[str], targets: Sequence[str], output: str) -> None:
    """Add a package with such libraries to the project; its program, run with the options `given`, prints `output`."""
    package = workspace.directory / "relocatable"
    package.mkdir()
    (package / "BUILD.bazel").write_text(BUILD, encoding="utf-8")
    for name, content in SOURCES.items():
        (package / name).write_text(content, encoding="utf-8")
    build = built(workspace.build("//relocatable:all", command="test"))
    assert len(build.ran("HipLinkDevice")) == len(targets), build.actions
    directory = Path(workspace.info("bazel-bin"), "relocatable")
    for name in ("play", "play_test", "libshared.so"):
        found = functions_of(directory / name)
        assert set(found) == set(targets), found
        for target, functions in found.items():
            assert functions >= DEFINED, f"{name}: {target}: {sorted(functions)}"
        with (directory / name).open("rb") as file:
            needed = read_elf(file, name).needed
        assert [one for one in needed if one.startswith(RUNTIME)], f"{name}: {needed}"
        print(
            f"{name}: one code object for each of {', '.join(found)}, with the functions of both libraries", flush=True
        )
    result = workspace.run("run", *given, "//relocatable:play")
    assert result.returncode == 0, result.stdout
    assert output in result.stdout, result.stdout
