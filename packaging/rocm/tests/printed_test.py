"""`rocm-sdk path`, `version` and `init-py`: what they print, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

from environments import Environment
from fake_sdk import VERSION, FakeSdk

from develop.testing.tiny_library import tiny_library


def test_paths_and_version_for_programs(shared_environment: Environment) -> None:
    paths = json.loads(shared_environment.rocm_sdk("path", "--json"))
    assert paths["root"] == str(shared_environment.site / "_rocm_sdk_devel")
    for name in ("root", "bin", "cmake", "include", "lib"):
        assert shared_environment.rocm_sdk("path", f"--{name}") == paths[name] + "\n"
        assert Path(paths[name]).is_dir()
    assert json.loads(shared_environment.rocm_sdk("version", "--json")) == {"version": VERSION}


def test_init_py_for_an_extension(environment: Environment, split_sdk: FakeSdk, tmp_path: Path) -> None:
    environment.install(split_sdk.index, "rocm[libraries]")
    # A library that the package has, but that has no short name.
    (environment.site / "_rocm_sdk_core/lib/libhidden.so.1").write_bytes(tiny_library("libhidden.so.1"))
    extension = tmp_path / "_C.so"
    extension.write_bytes(tiny_library("", ("libamdhip64.so.5", "libhidden.so.1", "libhipblas.so.2", "libc.so.6")))
    output = tmp_path / "_rocm_init.py"
    said = environment.rocm_sdk(
        "init-py", "--from-extension", str(extension), "-o", str(output), "--check-version", "minor"
    )
    assert said == (
        f"rocm-sdk: warning: {extension} needs libhidden.so.1, which has no short name. It is loaded if a preloaded "
        "library needs it; else give the extension an RPATH.\n"
    )
    assert '            "amdhip64",\n            "hipblas",\n' in output.read_text()
    assert 'check_version="7.10.*"' in output.read_text()
    code = "import sys; sys.path.insert(0, sys.argv[1]); import _rocm_init; _rocm_init.initialize()\n"
    code += "print(open('/proc/self/maps').read())"
    assert "libhipblas.so.2" in environment.run_code(code, str(tmp_path))

    assert f'check_version="{VERSION}"' in environment.rocm_sdk("init-py", "--preload", "amdhip64")
    assert "check_version" not in environment.rocm_sdk("init-py", "--preload", "amdhip64", "--check-version", "none")
    wrong = environment.rocm_sdk("init-py", "--from-extension", str(output), check=False)
    assert wrong.startswith(f"rocm-sdk: error: {output}: not a shared library")
