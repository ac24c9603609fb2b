"""HIP programs with Bazel: the example project, built from real ROCm.

    python3 -m hip.tests.e2e.programs --artifacts DIR [--libraries]
    python3 -m hip.tests.e2e.programs --debian

Run it from the top of the workspace. It copies hip/examples/programs beside a copy of the workspace, and builds it from
artifacts of ROCm 6 or newer, with the machine's own toolchain for C++. With HIP turned off, its targets are skipped,
and no SDK is fetched. It shows which actions a change runs, that two output bases have the same bytes, and that
actions read nothing but their inputs, the system's libraries, and the headers and programs of that toolchain. It runs
the programs: without a GPU, they say so. Programs of C++ have device code of several libraries, and libraries find what
they open. Sanitizers find bugs in the host's code. Headers that no target declares stop the build, and those that a
source does not include compile nothing. Each of some mistakes gets a
sentence. `--libraries` runs the programs with libraries of the SDK alone, `--debian` those with libraries of the suite
that the project's `rocm.debian` names.
"""

import argparse
import hashlib
import json
import shlex
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hip.tests.e2e.clang_options import check_clang_options
from hip.tests.e2e.device_code import check_device_code
from hip.tests.e2e.headers import check_headers
from hip.tests.e2e.instrumented import check_instrumented
from hip.tests.e2e.mistakes import check_mistakes
from hip.tests.e2e.opened import check_opened
from hip.tests.e2e.relocatable import check_relocatable
from hip.tests.e2e.sdk_libraries import check_sdk_libraries
from tests.e2e.testing.builds import Build, Workspace, built, copy_workspace

EXAMPLE = "hip/examples/programs"
#: Targets of the example's MODULE.bazel, and one more.
TARGETS, ANOTHER = ("gfx1100", "gfx90a"), "gfx1030"
#: How many sources programs have, how many of these have relocatable device code, and how many become code objects.
SOURCES, RELOCATABLE, CODE_OBJECTS = 7, 2, 1
PROGRAMS = ("halves", "show")
#: What the example's MODULE.bazel fetches of Debian; without it, all that the suite has.
PACKAGES = '    packages = [\n        "hipcc",\n        "libamdhip64-dev",\n    ],\n'
NO_GPU = "no ROCm-capable device is detected"
#: Files that are compared: programs, libraries, and what they are made of.
SUFFIXES = (".a", ".bc", ".co", ".hipfb", ".lo", ".o", ".so", *PROGRAMS)
#: Bazel's strictest sandbox, in which the machine is not to be seen, and what is left of it: libraries and processes.
STRICTEST = ("--experimental_use_hermetic_linux_sandbox", "--spawn_strategy=linux-sandbox")
SYSTEM = ("/lib", "/lib64", "/proc", "/usr/lib", "/usr/lib64")
#: What the machine's compiler and interpreter read, besides the system's libraries. A project that has no toolchain for
#: Python looks for an interpreter with a shell and `which`, which is an alternative in Debian.
HOST_TOOLCHAIN = ("/bin", "/etc/alternatives", "/usr/bin", "/usr/include", "/usr/libexec")
MNEMONICS = ("HipAssemble", "HipBundle", "HipCompileDevice", "HipCompileHost", "HipEmbed", "HipLinkDevice", "CppLink")


def copy_project(directory: Path, example: str, artifacts: Path | None = None) -> Workspace:
    """Copy the workspace to `rules` below a directory, and an example beside it."""
    rules, project = directory / "rules", directory / Path(example).name
    copy_workspace(rules)
    shutil.copytree(rules / example, project)
    module = project / "MODULE.bazel"
    text = module.read_text(encoding="utf-8")
    assert '"../../.."' in text
    module.write_text(text.replace('"../../.."', '"../rules"'), encoding="utf-8")
    (project / "bazelw").write_text('#!/bin/sh\nexec ../rules/bazelw "$@"\n', encoding="utf-8")
    (project / "bazelw").chmod(0o755)
    # The artifacts may lie below /tmp, which sandboxes hide. In other projects, toolchains have other names.
    return Workspace(project, artifacts, options=("--sandbox_add_mount_pair=/tmp", "--incompatible_auto_exec_groups"))


def ran(build: Build) -> dict[str, int]:
    """Return how many actions of HIP, and links of programs, a build executed."""
    counted = Counter(action.mnemonic for action in built(build).actions if action.mnemonic in MNEMONICS)
    return dict(sorted(counted.items()))


def expect(what: str, build: Build, **expected: int) -> None:
    """Assert which actions a build executed."""
    found = ran(build)
    assert found == expected, f"{what}: expected {expected}; ran {found}"
    print(f"{what}: {found or 'nothing'}, {build.seconds:.1f} s", flush=True)


def outputs(workspace: Workspace) -> dict[str, str]:
    """Return the SHA-256 of what was built."""
    directory = Path(workspace.info("bazel-bin"))
    files = sorted(path for path in directory.rglob("*") if path.is_file() and path.name.endswith(SUFFIXES))
    inside = {path: path.relative_to(directory) for path in files if not path.is_symlink()}
    return {
        str(name): hashlib.sha256(path.read_bytes()).hexdigest()
        for path, name in inside.items()
        if name.parts[0] != "external" and ".runfiles" not in str(name)
    }


def check_without_hip(workspace: Workspace) -> None:
    """Build with HIP turned off: the targets are skipped, and the SDK is not fetched."""
    build = workspace.build("//...", options=("--@rules_rocm_python//hip:enabled=false",))
    expect("HIP is turned off", build)
    repositories = Path(workspace.info("output_base"), "external").glob("*[+~]rocm")
    assert not list(repositories), "the SDK was fetched"


def check_changes(workspace: Workspace) -> None:
    """Build anew, without a change, after a change, and for another GPU target."""
    everything = (workspace.build("//..."),)
    compiled = (SOURCES + CODE_OBJECTS) * len(TARGETS)
    expect(
        "anew",
        *everything,
        CppLink=5,
        HipAssemble=1,
        HipBundle=SOURCES - RELOCATABLE + 1 + CODE_OBJECTS,
        HipCompileDevice=compiled,
        HipCompileHost=SOURCES,
        HipEmbed=1,
        HipLinkDevice=len(TARGETS),
    )
    expect("nothing changed", workspace.build("//..."))
    source = workspace.directory / "show.hip"
    source.write_text(source.read_text(encoding="utf-8").replace("saxpy: %g", "result: %g"), encoding="utf-8")
    changed = workspace.build("//...")
    # The program has no device code of its own: what is bundled is what it was.
    expect("a source of the host changed", changed, CppLink=1, HipCompileDevice=2, HipCompileHost=1)
    source = workspace.directory / "saxpy.hip"
    source.write_text(
        source.read_text(encoding="utf-8").replace("a * x[i] + y[i]", "y[i] + a * x[i] * 1"), encoding="utf-8"
    )
    kernel = workspace.build("//...")
    assert ran(kernel)["HipCompileDevice"] == len(TARGETS), ran(kernel)
    print(f"a kernel changed: {ran(kernel)}", flush=True)
    more = workspace.build("//...", options=(f"--@rocm//:targets={','.join((*TARGETS, ANOTHER))}",))
    compiled_again = [action.output for action in built(more).ran("HipCompileDevice")]
    assert [ANOTHER in output for output in compiled_again] == [True] * (SOURCES + CODE_OBJECTS), compiled_again
    assert [ANOTHER in action.output for action in more.ran("HipLinkDevice")] == [True]
    print(f"one more target: {ran(more)}", flush=True)


def check_own_rules(workspace: Workspace) -> None:
    """Read what the project's own rules made of the providers: code objects, and assembly for each target."""
    built(workspace.build("//:code_objects", "//:half"))
    binaries = Path(workspace.info("bazel-bin"))
    lines = (binaries / "code_objects.txt").read_text(encoding="utf-8").splitlines()
    assert [line.partition(" ")[0] for line in lines] == list(TARGETS), lines
    for target, line in zip(TARGETS, lines, strict=True):
        _, source, path = line.split()
        code = Path(workspace.info("execution_root"), path).read_bytes()
        assert source == "saxpy.hip", line
        assert code.startswith(b"\x7fELF"), line
        assembly = (binaries / f"half.{target}.s").read_text(encoding="utf-8")
        assert f"amdgcn-amd-amdhsa--{target}" in assembly, assembly[:500]
    print(f"the project's own rules: {len(lines)} code objects, and assembly for each target", flush=True)


def check_bytes(workspace: Workspace, directory: Path) -> None:
    """Build in another output base, in the strictest sandbox: the same bytes."""
    built(workspace.build("//..."))
    here = outputs(workspace)
    seen = [path for path in (*SYSTEM, *HOST_TOOLCHAIN) if Path(path).is_dir()]
    strict = (*STRICTEST, *(f"--sandbox_add_mount_pair={path}" for path in seen))
    other = replace(workspace, startup=(f"--output_base={directory / 'other'}",), options=(*workspace.options, *strict))
    try:
        built(other.build("//..."))
        there = outputs(other)
    finally:
        other.run("shutdown")
    # Here is also what the build for another target left.
    assert (differing := sorted(name for name, digest in there.items() if here.get(name) != digest)) == [], differing
    assert len(there) > SOURCES * len(TARGETS), sorted(there)
    print(f"the same bytes in the strictest sandbox: {len(there)} files", flush=True)


def check_programs(workspace: Workspace) -> None:
    """Run the programs and the test where Bazel runs: its root has the libc that ROCm needs."""
    for program in PROGRAMS:
        result = workspace.run(
            "run", "--ui_event_filters=-info", "--noshow_progress", *_artifacts(workspace), f"//:{program}"
        )
        assert result.returncode == 0, result.stdout
        assert NO_GPU in result.stdout, result.stdout
        print(result.stdout.splitlines()[-1], flush=True)
    built(workspace.build("//...", command="test"))


def check_commands(workspace: Workspace) -> None:
    """Write how sources are compiled, and do what is written: from the workspace, as an editor does."""
    for _ in range(2):  # the second run finds the file of the first
        result = workspace.run("run", *_artifacts(workspace), "//:compile_commands")
        assert result.returncode == 0, result.stdout
    entries = json.loads((workspace.directory / "compile_commands.json").read_text(encoding="utf-8"))
    assert len(entries) == SOURCES, entries
    lines = ["set -eu"]
    for entry in entries:
        (prefix,) = (one.partition("=")[2] for one in entry["arguments"] if one.startswith("--rocm-path="))
        # Bazel's actions set the variable, too.
        libraries = ":".join(f"{prefix}/lib{part}" for part in ("", "/llvm/lib", "/rocm_sysdeps/lib"))
        command = shlex.join(["env", "-C", entry["directory"], f"LD_LIBRARY_PATH={libraries}", *entry["arguments"]])
        lines.append(f"{command} -fsyntax-only")
    script = workspace.directory / "read.sh"
    script.write_text("\n".join(lines), encoding="utf-8")
    # Where Bazel runs is the libc that the compiler needs.
    result = workspace.run("run", *_artifacts(workspace), f"--run_under=sh {script}", f"//:{PROGRAMS[0]}")
    assert result.returncode == 0, result.stdout
    print(f"compile_commands.json: {len(entries)} sources, each read by clang as it says", flush=True)


def _artifacts(workspace: Workspace) -> Sequence[str]:
    artifacts = (f"--repo_env=ROCM_ARTIFACTS_DIR={workspace.artifacts}",) if workspace.artifacts else ()
    return (*artifacts, *workspace.options)


def check_libraries(workspace: Workspace) -> None:
    """Run programs with libraries of the SDK: their device code, their data, and what they open."""
    check_device_code(workspace, _artifacts(workspace), TARGETS, TARGETS[1])
    check_sdk_libraries(workspace, _artifacts(workspace), TARGETS)
    check_opened(workspace, _artifacts(workspace), TARGETS[1])


def check_debian(workspace: Workspace) -> None:
    """Run programs with all libraries of the suite, as `rocm.debian` brings them."""
    module = workspace.directory / "MODULE.bazel"
    text = module.read_text(encoding="utf-8")
    assert PACKAGES in text, text
    module.write_text(text.replace(PACKAGES, ""), encoding="utf-8")
    check_clang_options(workspace, _artifacts(workspace))
    check_sdk_libraries(workspace, _artifacts(workspace), TARGETS)


def check_all(workspace: Workspace, directory: Path) -> None:
    """Run all, with a directory for other places than the project's."""
    check_without_hip(workspace)
    check_changes(workspace)
    check_own_rules(workspace)
    check_programs(workspace)
    check_commands(workspace)
    check_bytes(workspace, directory)
    check_libraries(workspace)
    check_relocatable(workspace, _artifacts(workspace), TARGETS, NO_GPU)
    check_instrumented(workspace, _artifacts(workspace))
    check_headers(workspace, directory / "elsewhere")
    check_mistakes(workspace)


def main(argv: list[str]) -> int:
    """Run all; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--artifacts", type=Path, help="artifacts of ROCm 6 or newer")
    source.add_argument("--debian", action="store_true", help="check programs with libraries of Debian's packages")
    parser.add_argument("--libraries", action="store_true", help="check programs with libraries of the SDK alone")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="rocm-hip-") as directory:
        workspace = copy_project(Path(directory), EXAMPLE, args.artifacts and args.artifacts.resolve())
        try:
            if args.debian:
                check_debian(workspace)
            elif args.libraries:
                check_libraries(workspace)
            else:
                check_all(workspace, Path(directory))
        finally:
            workspace.run("clean", "--expunge")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
