"""Tests of the program behind `rocm_init_py`: what it writes calls rocm_sdk as the arguments say."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from develop.testing.elf_sample import Sample
from tools.actions.init_py.tool import main


def written(directory: Path, *arguments: str) -> dict[str, Any]:
    """Write the module, run its `initialize()` with a stand-in for rocm_sdk, and return what that was called with."""
    output = directory / "_rocm_init.py"
    assert main(["--label=//:init", f"--output={output}", *arguments]) == 0
    calls: list[dict[str, Any]] = []
    stand_in = ModuleType("rocm_sdk")
    stand_in.initialize_process = lambda **values: calls.append(values)  # type: ignore[attr-defined]
    module: dict[str, Any] = {}
    exec(output.read_text(encoding="utf-8"), module)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "rocm_sdk", stand_in)
        module["initialize"]()
    (call,) = calls
    return call


def extension(directory: Path, name: str, *needed: str) -> str:
    """Make an extension that needs these libraries; the argument that names it."""
    (directory / name).write_bytes(Sample(soname=None, needed=needed).build())
    return f"--extension={directory / name}"


def test_libraries_and_version_as_named(tmp_path: Path) -> None:
    call = written(tmp_path, "--preload=hipblas", "--preload=amdhip64", "--check-version=7.10.*")
    assert call == {
        "preload_shortnames": ["hipblas", "amdhip64"],
        "check_version": "7.10.*",
        "fail_on_version_mismatch": False,
    }


def test_a_mismatch_can_be_an_error(tmp_path: Path) -> None:
    call = written(tmp_path, "--check-version=7.10.0", "--fail-on-version-mismatch")
    assert call == {"preload_shortnames": [], "check_version": "7.10.0", "fail_on_version_mismatch": True}


def test_libraries_of_extensions_follow_those_named(tmp_path: Path) -> None:
    first = extension(tmp_path, "a.so", "libhipblas.so.3", "libamdhip64.so.7", "libc.so.6")
    second = extension(tmp_path, "b.so", "libamdhip64.so.7", "libhiprand.so")
    call = written(tmp_path, "--preload=hiprtc", first, second)
    assert call == {"preload_shortnames": ["hiprtc", "amdhip64", "hipblas", "hiprand"]}


def test_an_unknown_library_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--label=//:init", f"--output={tmp_path}/out", "--preload=hipblass"]) == 1
    assert capsys.readouterr().err.startswith("ERROR: //:init: unknown ROCm library hipblass; known: amd_comgr, ")
    assert not (tmp_path / "out").exists()


def test_what_is_no_extension_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("text")
    assert main(["--label=//:init", f"--output={tmp_path}/out", f"--extension={tmp_path}/a.txt"]) == 1
    assert capsys.readouterr().err.startswith(f"ERROR: //:init: {tmp_path}/a.txt: not a shared library")
