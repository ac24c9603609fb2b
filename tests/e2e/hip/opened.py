"""What libraries of an SDK open when they run: a part of tests.e2e.hip.programs.

hipRTC opens the library that compiles (libamd_comgr), which no DT_NEEDED leads to. A program of C++ that depends on
hipRTC alone compiles a kernel, for which the machine needs no GPU.
"""

from collections.abc import Sequence

from tests.e2e.testing.builds import Workspace

BUILD = """
cc_binary(
    name = "compile",
    srcs = ["compile.cc"],
    deps = ["@rocm//:hiprtc"],
)
"""
SOURCE = """
#include <hip/hiprtc.h>
#include <cstdio>
#include <string>

int main(int, char **words) {
  hiprtcProgram program;
  const char *text = "extern \\"C\\" __global__ void square(float *x) { x[threadIdx.x] *= x[threadIdx.x]; }";
  const std::string target = std::string("--offload-arch=") + words[1];
  const char *options[] = {target.c_str()};
  if (hiprtcCreateProgram(&program, text, "square.hip", 0, nullptr, nullptr)) return 1;
  if (hiprtcCompileProgram(program, 1, options)) return 2;
  size_t size = 0;
  if (hiprtcGetCodeSize(program, &size)) return 3;
  std::string code(size, 0);
  if (hiprtcGetCode(program, &code[0])) return 4;
  std::printf("code object: %s, square: %d\\n", code.substr(1, 3).c_str(), code.find("square.kd") != code.npos);
}
"""


def check_opened(workspace: Workspace, given: Sequence[str], target: str) -> None:
    """Add a package with the program to the project, and run it with the options `given`."""
    package = workspace.directory / "opened"
    package.mkdir()
    (package / "BUILD.bazel").write_text(BUILD, encoding="utf-8")
    (package / "compile.cc").write_text(SOURCE, encoding="utf-8")
    result = workspace.run("run", *given, "//opened:compile", "--", target)
    assert result.returncode == 0, result.stdout
    assert "code object: ELF, square: 1" in result.stdout, result.stdout
    print(f"hipRTC compiles a kernel for {target}", flush=True)
