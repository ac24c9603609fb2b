"""The checks of `rocm-sdk test`, each against an installation that has the fault it looks for."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest
from environments import Environment
from fake_sdk import FakeSdk, distributions
from rocm_sdk.distributions import PackageNames, parse_distributions
from rocm_sdk.installation import InstalledPackage
from rocm_sdk.selfcheck import Check, FailureError, SkipError, run_python, scripts
from rocm_sdk.selfcheck.packages import check_ownership, check_record
from rocm_sdk.selfcheck.run import Result, check_library, list_libraries, run_check
from rocm_sdk.selfcheck.scripts import ask, check_import, list_python_packages, list_scripts

from develop.testing.tiny_library import tiny_library

SPLIT = parse_distributions(json.dumps(distributions("split")))
CORE, LIBRARIES = SPLIT.packages["core"], SPLIT.packages["libraries"]


def install(site: Path, names: PackageNames, files: dict[str, bytes]) -> InstalledPackage:
    """Lay out a package as installers do; `files` are relative to site-packages."""
    dist_info = site / f"{names.distribution.replace('-', '_')}-7.10.0.dev0.dist-info"
    rows = [f"{dist_info.name}/RECORD,,"]
    for path, data in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_bytes(data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(data)}")
    dist_info.mkdir(exist_ok=True)
    (dist_info / "METADATA").touch()
    (dist_info / "RECORD").write_text("\n".join(rows) + "\n")
    return InstalledPackage(names, site, dist_info)


def test_files_of_the_current_directory_are_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They may be anybody's: `rocm-sdk test` ran them."""
    (tmp_path / "ctypes.py").write_text("raise SystemExit('planted')\n")
    monkeypatch.chdir(tmp_path)
    run_python("import ctypes; ctypes.CDLL")


def test_record_finds_each_kind_of_fault(tmp_path: Path) -> None:
    package = install(tmp_path, CORE, {"a": b"one", "b": b"two", "c.pyc": b"", "rocm_sdk_core/_devel.tar": b"x"})
    assert check_record(package) == "4 files"
    for path in ("c.pyc", "rocm_sdk_core/_devel.tar"):
        (tmp_path / path).unlink()
    assert check_record(package) == "4 files"
    (tmp_path / "a").write_bytes(b"ONE")
    with pytest.raises(
        FailureError, match=r"1 of 4 files .*: a has other contents \(sha256 differs\)\. Reinstall it: pip"
    ):
        check_record(package)
    assert check_record(package, quick=True) == "4 files"
    (tmp_path / "a").write_bytes(b"more")
    with pytest.raises(FailureError, match=r"a has 4 bytes, not 3"):
        check_record(package, quick=True)
    (tmp_path / "a").unlink()
    with pytest.raises(FailureError, match=r"a is missing"):
        check_record(package)


def test_no_path_belongs_to_two_packages(tmp_path: Path) -> None:
    core = install(tmp_path, CORE, {"x/a": b"", "x/__pycache__/a.pyc": b""})
    apart = install(tmp_path, LIBRARIES, {"x/b": b"", "x/__pycache__/a.pyc": b""})
    assert check_ownership(SPLIT, {"core": core, "libraries": apart}) == "4 paths"
    both = install(tmp_path, LIBRARIES, {"y/../x/a": b""})
    with pytest.raises(FailureError, match=r"1 paths belong to more than one package, such as .*/x/a: core, libraries"):
        check_ownership(SPLIT, {"core": core, "libraries": both})


def test_a_library_that_does_not_load_says_what_is_missing(tmp_path: Path) -> None:
    known = parse_distributions(json.dumps(distributions("split")))
    path = tmp_path / "libb.so.1"
    path.write_bytes(tiny_library("libb.so.1", ("libnosuch.so.1",)))
    with pytest.raises(FailureError, match=r"OSError: libnosuch\.so\.1: cannot open shared object file"):
        check_library(path, known)
    path.write_bytes(tiny_library("libb.so.1", ("libc.so.6",)))
    assert check_library(path, known) == ""


def test_libraries_of_all_directories_are_loaded(tmp_path: Path) -> None:
    paths = [f"lib/{name}" for name in ("liba.so.1", "opencl/libamdocl64.so.2", "llvm/lib/libLLVM.so.22")]
    for path in paths:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(tiny_library("libc.so.1", ()))
    assert sorted(list_libraries(tmp_path)) == sorted(tmp_path / path for path in paths)


def test_a_check_that_breaks_has_failed() -> None:
    def broken() -> str:
        raise KeyError("symbolic")

    assert run_check(Check("x", broken)) == Result("x", "failed", "KeyError: 'symbolic'")


def script(directory: Path, text: str) -> Path:
    path = directory / "tool"
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_what_does_not_apply_is_skipped() -> None:
    def run() -> str:
        raise SkipError("no GPU")

    assert run_check(Check("x", run)) == Result("x", "skipped", "no GPU")


def test_a_script_answers_whatever_it_says(tmp_path: Path) -> None:
    assert ask(script(tmp_path, '#!/bin/sh\n[ $# = 1 ] && [ $1 = --help ] && [ -z "$(ls)" ]\n'), "core") == 0
    assert ask(script(tmp_path, "#!/bin/sh\necho no GPU here; exit 3\n"), "core") == 3


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("#!/bin/sh\nkill -SEGV $$\n", "the process was ended by signal 11"),
        ("#!/usr/bin/env no-such-interpreter\n", "the process ended with status 127, saying: "),
        (
            "#!/bin/sh\necho ModuleNotFoundError: no yaml >&2; exit 1\n",
            "status 1, saying: ModuleNotFoundError: no yaml. Install",
        ),
        (
            '#!/bin/sh\necho "Can\'t locate File/Copy.pm in @INC"; echo BEGIN failed; exit 2\n',
            "the process ended with status 2, saying: Can't locate File/Copy.pm in @INC. Install",
        ),
        ("#!/bin/sh\nexec sleep 30\n", "did not end within 0.3 s"),
    ],
)
def test_a_script_that_cannot_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, fault: str) -> None:
    monkeypatch.setattr(scripts, "TIMEOUT_SECONDS", 0.3 if "sleep" in text else 60)
    with pytest.raises(FailureError) as caught:
        ask(script(tmp_path, text), "rocm-sdk-core")
    assert fault in str(caught.value)


def test_scripts_come_from_the_metadata(tmp_path: Path) -> None:
    table = [{"script": "hipcc", "path": "bin/hipcc", "prefer_devel": True}]
    package = install(tmp_path, CORE, {"rocm_sdk_core/console_scripts.json": json.dumps(table).encode()})
    assert list_scripts(package) == []
    (package.dist_info / "entry_points.txt").write_text(
        "[console_scripts]\nhipcc = a:b\namdclang++ = a:c\n[x]\ny = z\n"
    )
    assert list_scripts(package) == [("amdclang++", ""), ("hipcc", "bin/hipcc")]


def test_python_packages_of_a_tree_are_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = [{"package": "amdsmi", "path": "share/amd_smi"}]
    package = install(tmp_path, CORE, {"rocm_sdk_core/python_packages.json": json.dumps(table).encode()})
    ((name, directory),) = list_python_packages(package)
    assert (name, directory) == ("amdsmi", "share/amd_smi/amdsmi")
    with pytest.raises(SkipError, match=rf"^this build of {CORE.distribution} has no share/amd_smi/amdsmi$"):
        check_import(package, name, directory)
    module = package.tree / directory / "__init__.py"
    module.parent.mkdir(parents=True)
    module.write_text("import ctypes; ctypes.CDLL('libnosuch.so.1')\n")
    where = f"Python reads no .pth file in {tmp_path}. Add {module.parent.parent} to PYTHONPATH"
    with pytest.raises(SkipError, match=f"^{re.escape(where)}$"):
        check_import(package, name, directory)
    with monkeypatch.context() as patch:
        patch.setattr("site.getsitepackages", lambda: [str(tmp_path)])
        with pytest.raises(FailureError, match=r"^import amdsmi: ModuleNotFoundError: No module named 'amdsmi'\. "):
            check_import(package, name, directory)
    monkeypatch.setenv("PYTHONPATH", str(module.parent.parent))
    with pytest.raises(FailureError, match=r"^import amdsmi: OSError: libnosuch\.so\.1: cannot open shared object"):
        check_import(package, name, directory)
    module.write_text("")
    assert check_import(package, name, directory) == directory
    (tmp_path / "other/amdsmi").mkdir(parents=True)
    (tmp_path / "other/amdsmi/__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}/other")
    found = f"{tmp_path}/other/amdsmi/__init__.py, which comes before that of {CORE.distribution}"
    assert check_import(package, name, directory) == found


@pytest.mark.parametrize(
    ("gpu", "said"),
    [
        ("gfx1030", "no package of rocm 7.10.0.dev0 has code for the discrete GPU gfx1030"),
        ("gfx942", "rocm was installed for gfx1100"),
        ("gfx1100", ""),
    ],
)
def test_a_gpu_without_code_is_noticed(shared_environment: Environment, gpu: str, said: str) -> None:
    """Users took a success for a proof that kernels run (TheRock #1079, #2249)."""
    report = json.loads(
        shared_environment.rocm_sdk("test", "-k", "target", "--json", check=False, ROCM_BOOTSTRAP_FORCE_GFX_ARCH=gpu)
    )
    (result,) = report["results"]
    assert result["outcome"] == ("failed" if said else "passed"), result
    assert said in result["detail"]


def test_checks_of_an_installation(shared_environment: Environment) -> None:
    environment = shared_environment
    report = json.loads(environment.rocm_sdk("test", "--json"))
    assert [result["name"] for result in report["results"]] == [
        "devel",
        "packages",
        "target",
        "ownership",
        *(f"record:rocm-sdk-{name}" for name in ("core", "devel", "device-gfx1100", "libraries")),
        "record:rocm",
        "library:_rocm_sdk_core/lib/libamdhip64.so.5",
        "library:_rocm_sdk_core/lib/rocm_sysdeps/lib/librocm_sysdeps_liblzma.so.5",
        "library:_rocm_sdk_libraries/lib/libMIOpen.so.1",
        "library:_rocm_sdk_libraries/lib/libhipblas.so.2",
        "preload",
        *(f"script:{name}" for name in ("amdclang", "hipcc", "rocminfo", "rocm-sdk")),
    ]  # amdsmi is optional, and not there
    assert report["summary"] == {"passed": len(report["results"]), "failed": 0, "skipped": 0}
    only = environment.rocm_sdk("test", "-k", "script:").splitlines()
    assert [line.split()[1].rstrip(":") for line in only[:-1]] == [
        *(f"script:{name}" for name in ("amdclang", "hipcc", "rocminfo", "rocm-sdk"))
    ]
    assert "0 passed, 0 failed" in environment.rocm_sdk("test", "-k", "nosuch", check=False)


def test_a_forwarder_that_leads_nowhere_is_found(environment: Environment, split_sdk: FakeSdk) -> None:
    environment.install(split_sdk.index, "rocm")
    forwarder = environment.site / "_rocm_sdk_core/lib/libamdhip64.so"
    forwarder.write_bytes(tiny_library("libamdhip64.so", ("libnosuch.so.5",), "$ORIGIN"))
    report = environment.rocm_sdk("test", "-k", "preload", check=False)
    assert "failed  preload: OSError: libnosuch.so.5: cannot open shared object file" in report
    forwarder.write_bytes(tiny_library("libamdhip64.so", ("libc.so.6",), "$ORIGIN"))
    assert "1 passed" in environment.rocm_sdk("test", "-k", "preload")


def test_only_rocm_installed_says_what_is_missing(environment: Environment, split_sdk: FakeSdk) -> None:
    """As after installing the static wheel without extras."""
    environment.install(split_sdk.index, "--no-deps", "rocm")
    report = environment.rocm_sdk("test", check=False)
    command = "uv pip install" if environment.installer == "uv" else "pip install"
    assert f'failed  packages: rocm-sdk-core is not installed. Install it: {command} "rocm-sdk-core==' in report
    assert "problem: core: rocm-sdk-core is not installed" in environment.rocm_sdk("doctor", check=False)
