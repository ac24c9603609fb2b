"""The packages of the mini SDK, of which every answer is known."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from environment import LOAD, Environment

#: How many libraries a call goes through, by the program's name.
CHAINS = {"clang-22": 1, "rocminfo": 3, "rocprof-sys-run": 4}
SCRIPTS = {"hipconfig": "7.1.0-mini", "rocprof-compute": "rocprof-compute"}


def launchers() -> list[tuple[str, dict[str, Any]]]:
    """List every launcher of the plans: the tree it is in, and its entry."""
    plans = [json.loads(Path(path).read_text(encoding="utf-8")) for path in os.environ["PLANS"].split()]
    found = [(plan["tree"], entry) for plan in plans for entry in plan["entries"] if entry["treatment"] == "launcher"]
    assert len(found) == 12
    return found


def answer(called: str, program: str, arguments: tuple[str, ...]) -> str:
    """Return what a program of the mini SDK prints when it is called by a name."""
    if program in SCRIPTS:
        return SCRIPTS[program] + "\n"
    return f"{' '.join((called, *arguments))}: chain of {CHAINS[program]}\n"


@pytest.mark.parametrize(
    ("tree", "entry"), [pytest.param(tree, entry, id=entry["path"]) for tree, entry in launchers()]
)
def test_launcher_answers_as_the_program_it_stands_for(
    environment: Environment, tree: str, entry: dict[str, Any]
) -> None:
    launcher = environment.site_packages / tree / entry["path"]
    expected = answer(launcher.name, Path(entry["target"]).name, ("-x", "ï y"))
    assert environment.run(launcher, "-x", "ï y") == expected


def test_console_scripts_are_those_whose_tools_ship_and_they_answer(environment: Environment) -> None:
    programs = {
        "amdclang": "clang-22",
        "amdclang++": "clang-22",
        "amdlld": "clang-22",
        "hipconfig": "hipconfig",
        "offload-arch": "clang-22",
        "rocminfo": "rocminfo",
        "rocprof-compute": "rocprof-compute",
        "rocprof-sys-instrument": "rocprof-sys-run",
        "rocprof-sys-run": "rocprof-sys-run",
    }
    not_ours = ("python", "𝜋thon", "activate", "Activate")
    scripts = {path.name for path in (environment.directory / "bin").iterdir() if not path.name.startswith(not_ours)}
    assert scripts == {*programs, "rocm-sdk"}
    for script, program in programs.items():
        assert environment.run(script, "a.cpp") == answer(script, program, ("a.cpp",))


def test_no_library_loads_without_its_rpath(environment: Environment, tmp_path: Path) -> None:
    """The packages' RPATHs are what makes libraries load: elsewhere, the same bytes do not."""
    source = environment.site_packages / "_rocm_sdk_libraries/lib/libhipblas.so.3"
    alone = tmp_path / source.name
    alone.write_bytes(source.read_bytes())
    result = subprocess.run([environment.python, "-c", LOAD, alone], capture_output=True, text=True, check=False)
    assert "librocblas.so.5: cannot open shared object file" in result.stderr


def test_file_modes_are_kept(environment: Environment) -> None:
    """An installer gives executables their bit; what was read-only stays a regular file."""
    tree = environment.site_packages / "_rocm_sdk_core"
    for path, executable in {"bin/hipconfig": True, "bin/amdclang": True, "share/hip/version": False}.items():
        assert bool((tree / path).stat().st_mode & 0o111) == executable, path
