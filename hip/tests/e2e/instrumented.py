"""Sanitizers in the host's code of HIP sources: a part of hip.tests.e2e.programs.

A program with three bugs is built with the toolchain's features. Each sanitizer finds its bug, in the HIP source by
name and line.
"""

from collections.abc import Sequence

from tests.e2e.testing.builds import Workspace

BUILD = """
load("@rules_rocm_python//hip:defs.bzl", "hip_binary")

hip_binary(
    name = "bugs",
    srcs = ["bugs.hip"],
    linkopts = ["-pthread"],
)
"""
SOURCE = """\
#include <climits>
#include <cstring>
#include <hip/hip_runtime.h>
#include <thread>
__global__ void kernel(int *value) { *value = 1; }
int counter, values[4];
int bounds(int at) {
  int *read = new int[4]();
  return read[at];
}
int race() {
  std::thread other([] { ++counter; });
  ++counter;
  other.join();
  return counter;
}
int overflow(int one) {
  return INT_MAX + one;
}
int main(int count, char **words) {
  if (count < 2) return 0;
  if (!std::strcmp(words[1], "bounds")) return bounds(count + 2) & 1;
  if (!std::strcmp(words[1], "race")) return race() & 1;
  return overflow(count - 1) & 1;
}
"""
#: The feature of a sanitizer -> the argument that makes the program show its bug, what is said of it, and the line.
FOUND = {
    "asan": ("bounds", "heap-buffer-overflow", 9),
    "tsan": ("race", "data race", 13),
    "ubsan": ("overflow", "signed integer overflow", 18),
}


def check_sanitizers(workspace: Workspace, given: Sequence[str]) -> None:
    """Run the program with each sanitizer: without a bug, and with the bug that the sanitizer finds."""
    script = workspace.directory / "sanitized.sh"
    # What the runtime of ROCm leaves allocated is not looked at.
    script.write_text('ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 exec "$@"\n', encoding="utf-8")
    for feature, (bug, message, line) in FOUND.items():
        options = (*given, f"--features={feature}", "--compilation_mode=dbg", f"--run_under=sh {script}")
        well = workspace.run("run", *options, "//instrumented:bugs")
        assert well.returncode == 0, f"{feature}: {well.stdout}"
        found = workspace.run("run", *options, "//instrumented:bugs", "--", bug)
        assert message in found.stdout, f"{feature}: {found.stdout}"
        assert f"bugs.hip:{line}" in found.stdout, f"{feature}: {found.stdout}"
        print(f"{feature}: {message} in bugs.hip:{line}", flush=True)


def check_instrumented(workspace: Workspace, given: Sequence[str]) -> None:
    """Add a package with the program to the project; `given` are options of every run."""
    package = workspace.directory / "instrumented"
    package.mkdir()
    (package / "BUILD.bazel").write_text(BUILD, encoding="utf-8")
    (package / "bugs.hip").write_text(SOURCE, encoding="utf-8")
    check_sanitizers(workspace, given)
