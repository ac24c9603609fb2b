"""HIP in a big repository: a thousand C++ targets, of which ten use HIP, with an SDK and without.

    python3 -m hip.tests.e2e.optional --artifacts DIR

Run it from the top of the workspace; DIR has artifacts of ROCm 6 or newer. Each case has an output base of its own. It
shows how long the analysis of everything takes, how many targets are skipped, and what is fetched: without an SDK
nothing of HIP, and with one only for targets that use it. docs/built/performance.md has the figures.
"""

import argparse
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from hip.tests.e2e.programs import copy_project
from tests.e2e.testing.builds import Build, Workspace, built

PACKAGES, TARGETS_OF_ONE, HIP = 50, 20, 10
MODULE = """
module(name = "big")

bazel_dep(name = "rules_cc", version = "0.0.11")
bazel_dep(name = "rules_rocm_python", version = "0.1.0")
local_path_override(module_name = "rules_rocm_python", path = "../rules")

artifacts = use_extension("@rules_rocm_python//rules:extensions.bzl", "artifacts")
artifacts.directory(name = "given", path = "{artifacts}")
rocm = use_extension("@rules_rocm_python//rules:extensions.bzl", "rocm")
hip.sdk({source}, targets = ["gfx90a"])
use_repo(artifacts, "given")
use_repo(rocm, "rocm")
"""
WITHOUT, WITH = 'path = "/no/rocm"', 'artifacts = "@given//:artifacts.bzl"'
HEAD = """
load("@rules_cc//cc:defs.bzl", "cc_library")
load("@rules_rocm_python//hip:defs.bzl", "hip_library", "requires_hip")

package(default_visibility = ["//visibility:public"])
"""
LIBRARY = 'cc_library(name = "c{number}", srcs = ["c{number}.cc"], deps = [{deps}])\n'
HIP_LIBRARY = 'hip_library(name = "gpu", srcs = ["gpu.hip"], target_compatible_with = requires_hip())\n'
SELECT = '] + select({"@rules_rocm_python//hip:is_enabled": [":gpu"], "//conditions:default": []}) + ['
KERNEL = "#include <hip/hip_runtime.h>\n__global__ void kernel(int *x) { *x = 1; }\n"
#: What asks whether Bazel skips a target.
SKIPPED = '"skipped" if "IncompatiblePlatformProvider" in (providers(target) or {}) else "built"'


def write_package(directory: Path, number: int) -> None:
    """Write a package of libraries, each of which needs the one before it.

    The first packages have a library with HIP each, and no other package depends on them.
    """
    directory.mkdir()
    has_hip = number < HIP
    other = "" if number in {0, HIP} else f'"//p{number - 1}:c0"'
    lines = [HEAD, HIP_LIBRARY if has_hip else ""]
    for library in range(TARGETS_OF_ONE - has_hip):
        before = f'":c{library - 1}"' if library else other
        deps = before + (SELECT if has_hip and library == 0 else "")
        lines.append(LIBRARY.format(number=library, deps=deps))
        (directory / f"c{library}.cc").write_text(f"int f{number}_{library}() {{ return 0; }}\n", encoding="utf-8")
    (directory / "BUILD.bazel").write_text("".join(lines), encoding="utf-8")
    if has_hip:
        (directory / "gpu.hip").write_text(KERNEL, encoding="utf-8")


@dataclass(frozen=True)
class Case:
    """A repository with or without an SDK, and what is asked of it."""

    what: str
    source: str
    targets: str
    #: Of all targets, how many are skipped; whether the SDK is fetched.
    skipped: int
    fetches: bool
    options: tuple[str, ...] = ()


OFF = ("--@rules_rocm_python//hip:enabled=false",)
CASES = (
    Case("no SDK on the machine, everything", WITHOUT, "//...", HIP, fetches=False),
    Case("an SDK, HIP turned off, everything", WITH, "//...", HIP, fetches=False, options=OFF),
    Case("an SDK, a package without HIP", WITH, f"//p{PACKAGES - 1}:all", 0, fetches=False),
    Case("an SDK, everything", WITH, "//...", 0, fetches=True),
)


def fetched(workspace: Workspace) -> tuple[int, int]:
    """Return how many repositories were fetched, and the size of their files in bytes; links count as links."""
    external = Path(workspace.info("output_base"), "external")
    repositories = [path for path in external.iterdir() if path.is_dir() and not path.is_symlink()]
    files = [
        path for repository in repositories for path in repository.rglob("*") if path.is_symlink() or path.is_file()
    ]
    return len(repositories), sum(path.lstat().st_size for path in files)


def count_skipped(workspace: Workspace, case: Case) -> int:
    """Return how many of a case's targets Bazel skips."""
    given = (*workspace.options, *case.options)
    query = ("--output=starlark", f"--starlark:expr={SKIPPED}", "--ui_event_filters=-info", "--noshow_progress")
    result = workspace.run("cquery", *given, *query, f"kind(rule, {case.targets})")
    assert result.returncode == 0, result.stdout
    return result.stdout.split().count("skipped")


def check(workspace: Workspace, case: Case) -> None:
    """Analyse a case's targets, build a sample, and print what that took."""
    (workspace.directory / "MODULE.bazel").write_text(
        MODULE.format(artifacts=workspace.artifacts, source=case.source), encoding="utf-8"
    )
    analysis: Build = built(workspace.build(case.targets, options=("--nobuild", *case.options)))
    skipped = count_skipped(workspace, case)
    assert skipped == case.skipped, f"{case.what}: {skipped} targets were skipped"
    repositories, size = fetched(workspace)
    has_sdk = bool(list(Path(workspace.info("output_base"), "external").glob("*[+~]rocm")))
    assert has_sdk == case.fetches, f"{case.what}: whether the SDK was fetched"
    sample = built(workspace.build("//p0:all", options=case.options)) if case.targets == "//..." else analysis
    compiled = len(sample.ran("HipCompileDevice"))
    assert compiled == case.fetches, f"{case.what}: {compiled} HIP sources were compiled"
    print(
        f"| {case.what} | {analysis.seconds:.1f} s | {skipped} | {repositories} | {size / 1e6:.0f} MB | "
        f"{sample.seconds:.1f} s |",
        flush=True,
    )


def main(argv: list[str]) -> int:
    """Run all cases; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifacts", type=Path, required=True, help="artifacts of ROCm 6 or newer")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="rocm-hip-optional-") as name:
        workspace = copy_project(Path(name), "hip/examples/programs", args.artifacts.resolve())
        project = Path(name, "big")
        for number in range(PACKAGES):
            project.mkdir(exist_ok=True)
            write_package(project / f"p{number}", number)
        (workspace.directory / "bazelw").rename(project / "bazelw")
        for number, case in enumerate(CASES):
            there = replace(workspace, directory=project, startup=(f"--output_base={name}/base{number}",))
            try:
                check(there, case)
            finally:
                there.run("clean", "--expunge")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
