"""The tables of console scripts and the modules that serve them, without an installation."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest
from fake_sdk import PACKAGES

LLVM_SCRIPTS = "amdclang amdclang++ amdclang-cpp amdclang-cl amdflang amdlld offload-arch"
OTHER_SCRIPTS = (
    "hipcc hipconfig hipify-clang hipify-perl roc-obj roc-obj-extract roc-obj-ls amd-smi rocm_agent_enumerator "
    "hipInfo rocminfo rocm-smi roccoremerge rocgdb rocpd rocpd2csv rocpd2otf2 rocpd2pftrace rocpd2summary rocprofv3 "
    "rocprofv3-attach rocprofv3-avail"
)
PROFILER_SCRIPTS = (
    "rocprof-compute rocprof-sys-attach rocprof-sys-avail rocprof-sys-causal rocprof-sys-instrument rocprof-sys-run "
    "rocprof-sys-sample rocprof-sys-python"
)


def table(package: str) -> dict[str, dict[str, object]]:
    file = next((PACKAGES / package / "src").glob("*/console_scripts.json"))
    rows = json.loads(file.read_text("utf-8"))
    assert all(sorted(row) == ["path", "prefer_devel", "script"] for row in rows)
    found = {row["script"]: row for row in rows}
    assert len(found) == len(rows)
    return found


def load(package: str, directory: Path) -> ModuleType:
    """Load a copy of a package's `_cli` from `directory`, as from site-packages."""
    source = next((PACKAGES / package / "src").iterdir())
    target = directory / source.name
    target.mkdir()
    for name in ("_cli.py", "console_scripts.json"):
        (target / name).write_bytes((source / name).read_bytes())
    spec = importlib.util.spec_from_file_location(f"{source.name}._cli", target / "_cli.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_core_has_the_scripts_of_the_reference() -> None:
    rows = table("core")
    assert set(rows) == {*LLVM_SCRIPTS.split(), *OTHER_SCRIPTS.split()}
    for name in LLVM_SCRIPTS.split():
        assert rows[name]["path"] == f"lib/llvm/bin/{name}"
    for name in OTHER_SCRIPTS.split():
        assert rows[name]["path"] == f"bin/{name}"
    informative = sorted(name for name, row in rows.items() if not row["prefer_devel"])
    assert informative == ["amd-smi", "hipInfo", "offload-arch", "rocm-smi", "rocm_agent_enumerator", "rocminfo"]


def test_profiler_has_the_scripts_of_the_reference() -> None:
    rows = table("profiler")
    assert set(rows) == set(PROFILER_SCRIPTS.split())
    assert all(row["path"] == f"bin/{name}" for name, row in rows.items())


@pytest.mark.parametrize("package", ["core", "profiler"])
def test_each_script_has_a_function_of_its_own(package: str, tmp_path: Path) -> None:
    module = load(package, tmp_path)
    names = [module.function_name(script) for script in table(package)]
    assert len(set(names)) == len(names)
    for name in names:
        assert name.isidentifier()
        assert callable(getattr(module, name))
    with pytest.raises(AttributeError, match="no attribute 'nosuch'"):
        module.nosuch  # noqa: B018


def test_plus_signs_become_x(tmp_path: Path) -> None:
    assert load("core", tmp_path).function_name("amdclang++") == "amdclangxx"


def test_a_missing_tool_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"_rocm_sdk_core/bin/rocminfo is missing or not executable\. Reinstall"):
        load("core", tmp_path).rocminfo()


@pytest.mark.parametrize(("package", "own"), [("core", "rocm_sdk_core"), ("profiler", "rocm_profiler")])
def test_trees_can_have_other_names(package: str, own: str, tmp_path: Path) -> None:
    module = load(package, tmp_path)

    def find() -> object:
        return module.tree() if package == "core" else module.trees()[0]

    assert find() == tmp_path / f"_{own}"
    (tmp_path / own / "_package.json").write_text(json.dumps({"tree": f"_{own}_710", "core_tree": "_core_710"}))
    assert find() == tmp_path / f"_{own}_710"


def test_search_paths_hold_what_exists_once_and_first(tmp_path: Path) -> None:
    module = load("profiler", tmp_path)
    assert module.tool_environment({"PATH": "/bin", "LD_LIBRARY_PATH": "/a"}) == {
        "PATH": "/bin",
        "LD_LIBRARY_PATH": "/a",
    }
    own, deps = tmp_path / "_rocm_profiler/lib", tmp_path / "_rocm_sdk_core/lib/rocm_sysdeps/lib"
    for directory in (own, deps):
        directory.mkdir(parents=True)
    changed = module.tool_environment({"LD_LIBRARY_PATH": f"/a::{deps}:/b"})
    assert changed == {"LD_LIBRARY_PATH": f"{own}:{deps}:/a:/b"}


def test_exit_codes_of_windows_are_those_of_the_tool(tmp_path: Path) -> None:
    as_signed = load("core", tmp_path).as_signed
    assert [as_signed(code) for code in (0, 3, 0x7FFFFFFF)] == [0, 3, 0x7FFFFFFF]
    assert as_signed(0xC0000005) & 0xFFFFFFFF == 0xC0000005
    assert as_signed(0xFFFFFFFF) == -1
