"""A Python extension with HIP code, from ROCm's packages to installations: the example project hip/examples/wheel.

    python3 -m hip.tests.e2e.wheel --dist DIR --root ROOT --uv PATH

Run it from the top of the workspace. DIR is a build of //packaging:dist of ROCm 6 or newer, and ROOT a root file system
in which its libraries run, with the headers of its Python. uv locks the packages. Bazel compiles an extension module
with nanobind, makes its wheel require the packages, splits it and writes an index. The example's own
test passes. pip installs for two GPUs: each gets code for its own, `pip check` agrees, and the extension says that
there is no GPU. At the end, packages with device code are locked, too.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from hip.tests.e2e import device_code
from hip.tests.e2e.programs import NO_GPU, TARGETS, copy_project
from lib.elf.reader import read_elf
from tests.e2e.testing.builds import WORKSPACE, Workspace, built

EXAMPLE = "hip/examples/wheel"
#: What the example's README locks.
REQUIREMENT = "rocm[libraries,devel]"
#: A target of `--dist` that has device code in a package of its own, beside other ones.
DEVICE = "gfx942"
USE = """
import acme_saxpy
try:
    acme_saxpy.saxpy(2, [1, 2], [3, 4])
except RuntimeError as error:
    print(error)
"""
#: How libraries of the system begin.
SYSTEM = ("ld-linux", "libc.", "libgcc_s.", "libm.", "libstdc++.")
#: What of ROCm the extension names: the HIP runtime, and what its package offers besides. They find others themselves.
NEEDED = ("libamd_comgr", "libamdhip64", "libhsa-runtime64")
#: How the ID of a code object begins in a bundle.
CODE = b"hipv4-amdgcn-amd-amdhsa--"


def lock(workspace: Workspace, dist: Path, uv: Path, requirement: str = REQUIREMENT) -> None:
    """Lock ROCm's packages, as the README says."""
    (workspace.directory / "requirements.in").write_text(f"{requirement}\n", encoding="utf-8")
    index = ("--index-url", f"{(dist / 'static/simple').as_uri()}", "--no-config", "--prerelease", "allow")
    output = ("--format", "pylock.toml", "-o", "pylock.toml", "requirements.in")
    subprocess.run([uv, "pip", "compile", "--quiet", *index, *output], cwd=workspace.directory, check=True)


def headers(root: Path, directory: Path) -> Path:
    """Copy the headers of the root's Python, which Debian has in two directories; return the copy."""
    (header,) = root.glob("usr/include/python3*/Python.h")
    shutil.copytree(header.parent, directory)
    for machine in root.glob(f"usr/include/*-linux-gnu/{header.parent.name}"):
        shutil.copytree(machine, directory / machine.relative_to(root / "usr/include"))
    return directory


def install(root: Path, index: Path, environment: Path) -> str:
    """Install the extension in the root, and return what it prints."""
    python = environment / "bin/python"
    commands: tuple[list[str | Path], ...] = (
        ["python3", "-m", "venv", environment],
        [python, "-m", "pip", "install", "--quiet", "--pre", "--isolated", "--index-url", index.as_uri(), "acme-saxpy"],
        [python, "-m", "pip", "check"],
        [python, "-c", USE],
    )
    output = ""
    for command in commands:
        within = [WORKSPACE / "tests/e2e/roots/in_root.sh", root, *command]
        result = subprocess.run(within, capture_output=True, text=True, check=False)
        assert result.returncode == 0, f"{command}: {result.stdout}{result.stderr}"
        output = result.stdout
    return output


def check_installed(root: Path, dist: Path, target: str, environment: Path) -> None:
    """Install for a GPU target; assert that the extension has code for it alone, and finds the HIP runtime."""
    printed = install(root, dist / target / "simple", environment)
    assert NO_GPU in printed, printed
    (library,) = environment.glob("lib/python*/site-packages/acme_saxpy/_saxpy.abi3.so")
    content = library.read_bytes()
    found = {one for one in TARGETS if CODE + one.encode() in content}
    assert found == {target}, f"{target}: has code for {sorted(found)}"
    with library.open("rb") as file:
        needed = [one for one in read_elf(file, str(library)).needed if not one.startswith(SYSTEM)]
    assert {one.partition(".so")[0] for one in needed} == set(NEEDED), needed
    print(f"{target}: {library.stat().st_size:,} bytes; {printed.strip()}", flush=True)


def check_device_code(workspace: Workspace, dist: Path, uv: Path) -> None:
    """Lock the packages with device code for all GPUs: those for the targets are fetched, and part of the SDK."""
    lock(workspace, dist, uv, REQUIREMENT.replace("devel", "devel,device-all"))
    module = workspace.directory / "MODULE.bazel"
    module.write_text(module.read_text(encoding="utf-8").replace(TARGETS[1], DEVICE), encoding="utf-8")
    built(workspace.build("@rocm//wheels"))
    external = Path(workspace.info("output_base"), "external")
    (repository,) = external.glob("*hip[+~]rocm")
    fetched = sorted(path.name.rpartition(".")[2] for path in external.glob("*hip[+~]rocm.*-device-*") if path.is_dir())
    assert fetched == [f"rocm-sdk-device-{DEVICE}"], fetched
    kernels = list((repository / "prefix/lib").rglob(f"*{DEVICE}*"))
    assert kernels, f"no device code for {DEVICE} in {repository}/prefix"
    print(f"packages with device code: {fetched[0]} of {DEVICE} alone, {len(kernels)} files of the SDK", flush=True)
    run_program(workspace)


def run_program(workspace: Workspace) -> None:
    """Run a program where Bazel has built it, with a library of the SDK that finds the others by its search path."""
    with (workspace.directory / "BUILD.bazel").open("a", encoding="utf-8") as file:
        file.write(device_code.BUILD)
    (workspace.directory / "random.cc").write_text(device_code.SOURCE, encoding="utf-8")
    result = workspace.run("run", *workspace.options, "//:random")
    assert result.returncode == 0, result.stdout
    print(result.stdout.splitlines()[-1], flush=True)


def main(argv: list[str]) -> int:
    """Run all; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, required=True, help="a build of //packaging:dist")
    parser.add_argument("--root", type=Path, required=True, help="root file system with a libc for it, and python3-dev")
    parser.add_argument("--uv", type=Path, required=True, help="uv")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="rocm-hip-wheel-") as name:
        directory = Path(name)
        project = copy_project(directory, EXAMPLE)
        include = f"--repo_env=PYTHON_INCLUDE={headers(args.root, directory / 'python')}"
        workspace = replace(project, options=(*project.options, include))
        try:
            lock(workspace, args.dist.resolve(), args.uv.absolute())
            built(workspace.build("//:dist"))
            built(workspace.build("//:install_test", command="test", options=("--test_output=errors",)))
            dist = directory / "dist"  # Where the root file system has it, too.
            shutil.copytree(workspace.directory / "bazel-bin" / "dist", dist)
            for target in TARGETS:
                check_installed(args.root, dist, target, directory / target)
            check_device_code(workspace, args.dist.resolve(), args.uv.absolute())
        finally:
            workspace.run("clean", "--expunge")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
