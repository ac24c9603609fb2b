"""`rocm-sdk list`, `path`, `version` and `init-py`: what they print, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from environments import Environment
from fake_sdk import VERSION, FakeSdk
from rocm_sdk.listing import Listed, format_list, format_size

from develop.testing.tiny_library import tiny_library


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (1_662_022_242, "1.7 GB"),
        (5_000_000_000_000_000, "5000.0 TB"),
    ],
)
def test_sizes(size: int, text: str) -> None:
    assert format_size(size) == text


def test_table() -> None:
    packages = [
        Listed("rocm", "7.10", "", 1000, "/site"),
        Listed("rocm-sdk-device-gfx942", "7.10", "gfx942", 20, "/other"),
    ]
    assert format_list(packages).splitlines() == [
        "package                 version  target    size",
        "rocm                    7.10     -       1.0 kB",
        "rocm-sdk-device-gfx942  7.10     gfx942    20 B",
        "total                                    1.0 kB",
        "in /other",
        "in /site",
    ]


def test_installed_packages_are_listed_with_what_they_take(environment: Environment, split_sdk: FakeSdk) -> None:
    environment.install(split_sdk.index, "rocm[device,devel]")
    before = json.loads(environment.rocm_sdk("list", "--json"))
    packages = {package["name"]: package for package in before["packages"]}
    assert list(packages) == [
        "rocm",
        "rocm-sdk-core",
        "rocm-sdk-libraries",
        "rocm-sdk-device-gfx1100",
        "rocm-sdk-devel",
    ]
    assert packages["rocm-sdk-device-gfx1100"]["target"] == "gfx1100"
    assert {package["version"] for package in packages.values()} == {VERSION}
    libraries = [environment.site / "_rocm_sdk_libraries/lib" / name for name in ("libhipblas.so.2", "libMIOpen.so.1")]
    assert packages["rocm-sdk-libraries"]["size"] > sum(path.stat().st_size for path in libraries)
    assert before["size"] == sum(package["size"] for package in packages.values())

    environment.rocm_sdk("init")
    after = json.loads(environment.rocm_sdk("list", "--json"))
    # The development tree has hard links to libraries of megabytes, which take no space.
    assert after["size"] - before["size"] < 100_000
    assert f"in {environment.site}\n" in environment.rocm_sdk("list")


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
