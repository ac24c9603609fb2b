"""The tables of console scripts and the modules that serve them, without an installation."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from environments import Environment
from fake_sdk import PACKAGES, glue

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
    assert all(sorted({*row} - {"directories"}) == ["optional", "path", "prefer_devel", "script"] for row in rows)
    found = {row["script"]: row for row in rows}
    assert len(found) == len(rows)
    return found


def lay_out(site: Path) -> None:
    """Write the Python code of both packages into a directory, as into site-packages."""
    for path, data in {**glue("core", "rocm_sdk_core"), **glue("profiler", "rocm_profiler")}.items():
        (site / path).parent.mkdir(exist_ok=True)
        (site / path).write_bytes(data)


def load(package: str, directory: Path) -> ModuleType:
    """Load a copy of a package's `_cli` from `directory`, and forget it."""
    lay_out(directory)
    names = ("rocm_sdk_core", "rocm_profiler")
    sys.path.insert(0, str(directory))
    importlib.invalidate_caches()
    try:
        return importlib.import_module(f"{names[package == 'profiler']}._cli")
    finally:
        sys.path.remove(str(directory))
        for name in [one for one in sys.modules if one.startswith(names)]:
            del sys.modules[name]


def plant(site: Path, path: str, text: str) -> None:
    """Write a tool of a tree."""
    tool = site / path
    tool.parent.mkdir(parents=True, exist_ok=True)
    tool.write_text(text)
    tool.chmod(0o755)


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
    function_name = load("core", tmp_path).function_name
    names = [function_name(script) for script in table(package)]
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


def test_a_tool_on_a_file_system_without_programs_is_not_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = load("core", tmp_path)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_NOEXEC | os.ST_NOSUID))
    tool = tmp_path / "_rocm_sdk_core/bin/rocminfo"
    plant(tmp_path, "_rocm_sdk_core/bin/rocminfo", "")
    tool.chmod(0o644)
    with pytest.raises(
        SystemExit, match=r"bin/rocminfo is missing or not executable\. Its file system .* noexec: mount"
    ):
        module.rocminfo()


@pytest.mark.parametrize(("package", "own"), [("core", "rocm_sdk_core"), ("profiler", "rocm_profiler")])
def test_trees_can_have_other_names(package: str, own: str, tmp_path: Path) -> None:
    module = load(package, tmp_path)

    def find() -> Path:
        return Path(module.tree() if package == "core" else module.trees()[0])

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


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, "{core}/lib/llvm/bin {core}/lib {core}"),
        ({"HIP_CLANG_PATH": ""}, "{core}/lib/llvm/bin {core}/lib {core}"),
        ({"HIP_CLANG_PATH": "/mine"}, "/mine {core}/lib {core}"),
        ({"HIP_PATH": "/mine"}, "{core}/lib/llvm/bin {core}/lib /mine"),
    ],
)
@pytest.mark.parametrize("script", ["hipcc", "hipconfig"])
def test_hipcc_is_told_where_the_compiler_and_hip_are(
    tmp_path: Path, script: str, environ: dict[str, str], expected: str
) -> None:
    lay_out(tmp_path)
    plant(tmp_path, f"_rocm_sdk_core/bin/{script}", '#!/bin/sh\necho "$HIP_CLANG_PATH $HIP_LIB_PATH $HIP_PATH"\n')
    plant(tmp_path, "_rocm_sdk_core/lib/llvm/bin/clang", "#!/bin/sh\n")
    code = f"import rocm_sdk_core._cli as cli; cli.{script}()"
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PATH": "/bin:/usr/bin", **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == expected.format(core=tmp_path / "_rocm_sdk_core")


def test_a_directory_that_is_not_there_is_not_named(tmp_path: Path) -> None:
    environment = load("core", tmp_path).with_directories({"A": "1"}, str(tmp_path), {"HIP_CLANG_PATH": "lib/llvm/bin"})
    assert environment == {"A": "1"}


def test_programs_of_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = load("core", tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("os.name", "nt")
        _, found = module.find_tool("bin/rocminfo", prefer_devel=False)
    assert found == f"{tmp_path}/_rocm_sdk_core/bin\\rocminfo.exe"


def test_exit_codes_of_windows_are_those_of_the_tool(tmp_path: Path) -> None:
    as_signed = load("core", tmp_path).as_signed
    assert [as_signed(code) for code in (0, 3, 0x7FFFFFFF)] == [0, 3, 0x7FFFFFFF]
    assert as_signed(0xC0000005) & 0xFFFFFFFF == 0xC0000005
    assert as_signed(0xFFFFFFFF) == -1


#: What each of these signals does by default, and what Python ignores.
SIGNALS = [signal.SIGPIPE, signal.SIGXFSZ]


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize(
    ("script", "tool"),
    [
        ("rocm_sdk_core._cli:rocminfo", "_rocm_sdk_core/bin/rocminfo"),
        ("rocm_profiler._cli:rocprof_sys_run", "_rocm_profiler/bin/rocprof-sys-run"),
    ],
)
def test_signals_that_python_ignores_end_the_tool(
    tmp_path: Path, number: signal.Signals, script: str, tool: str
) -> None:
    lay_out(tmp_path)
    plant(tmp_path, tool, f"#!/bin/sh\nkill -{number.name.removeprefix('SIG')} $$\necho alive\n")
    module, _, function = script.partition(":")
    code = f"import sys; sys.path.append({str(tmp_path)!r}); from {module} import {function}; {function}()"
    done = subprocess.run([sys.executable, "-I", "-S", "-B", "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (-number, b"")


def test_a_tool_whose_reader_has_gone_ends(tmp_path: Path) -> None:
    """Such as `hipconfig | head -1`."""
    lay_out(tmp_path)
    plant(tmp_path, "_rocm_sdk_core/bin/rocminfo", "#!/bin/sh\nexec yes\n")
    code = f"import sys; sys.path.append({str(tmp_path)!r}); from rocm_sdk_core._cli import rocminfo; rocminfo()"
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-B", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"y\n"
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (-signal.SIGPIPE, b"")


@pytest.mark.parametrize(("kind", "is_said"), [("rocm_sdk.errors", True), ("rocm_sdk.devel", False)])
def test_what_stops_the_development_tree_is_said_and_bugs_are_not_hidden(
    tmp_path: Path, kind: str, is_said: bool
) -> None:
    lay_out(tmp_path)
    stops = f"class E(Exception): __module__ = {kind!r}\ndef get_devel_root(): raise E('no space. Make some')\n"
    plant(tmp_path, "rocm_sdk/_devel.py", stops)
    plant(tmp_path, "rocm_sdk/__init__.py", "")
    code = (
        f"import sys; sys.path.append({str(tmp_path)!r}); from rocm_sdk_core import _cli; print(_cli._ask_for_devel())"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-B", "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert (done.stderr == "-c: no space. Make some\n", "Traceback" in done.stderr) == (is_said, not is_said)


def imported(environment: Environment, *arguments: str) -> set[str]:
    """Return the modules that the environment's Python imports for a program, as it reports them itself."""
    report = environment.run(str(environment.python), "-X", "importtime", *arguments)
    rows = [line.split("|") for line in report.splitlines() if line.startswith("import time:")]
    return {row[2].strip() for row in rows[1:]}


CORE = {"_json", "__future__", "rocm_sdk_core", "rocm_sdk_core._cli", "rocm_sdk_core._version"}
GLANCE = {"_json", "rocm_sdk", "rocm_sdk.devel", "rocm_sdk.devel_tree"}


@pytest.mark.parametrize(
    ("script", "tool", "allowed"),
    [
        ("rocminfo", "_rocm_sdk_core/bin/rocminfo", CORE),
        ("amdclang", "_rocm_sdk_devel/lib/llvm/bin/amdclang", CORE | GLANCE),
    ],
)
def test_scripts_import_nothing_that_takes_time(
    shared_environment: Environment, script: str, tool: str, allowed: set[str]
) -> None:
    file = shared_environment.root / "bin" / script
    # Before 25.0, what pip writes imports `re`.
    installers_own = "import re, sys" if "import re" in file.read_text() else "import sys"
    before = imported(shared_environment, "-c", installers_own)
    assert imported(shared_environment, str(file)) - before == allowed
    assert shared_environment.run(str(file), "x") == f"{shared_environment.site}/{tool} x\n"


@pytest.mark.parametrize("package", ["core", "profiler"])
def test_tables_are_read_as_json(package: str, tmp_path: Path) -> None:
    """Without the module `json`."""
    read_json = load("core", tmp_path).read_json
    file = next((PACKAGES / package / "src").glob("*/console_scripts.json"))
    assert read_json(str(file)) == json.loads(file.read_text("utf-8"))
    assert read_json(f"{tmp_path}/none.json") is None
