"""The libraries of an SDK: found across its packages and elsewhere, loaded, and judged; in processes of their own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from develop.testing.slow_import import slow_import
from develop.testing.tiny_library import tiny_library

SOURCES = Path(__file__).with_name("libraries")
TABLE = {
    "version": "2.0",
    "variable": "ACME_ROOT",
    "packages": [
        {"distribution": "acme-core", "tree": "_acme_core", "libraries": {"libbase.so.1": "lib/libbase.so.1"}},
        {
            "distribution": "acme.math",
            "tree": "_acme_math",
            "libraries": {
                "libsum.so.9": "lib/libsum.so.9",
                "libsum.so.10": "lib/libsum.so.10",
                "sum_2.dll": "bin/sum_2.dll",
            },
        },
        {"distribution": "acme-extra", "tree": "_acme_extra", "libraries": {"libextra.so.1": "lib/libextra.so.1"}},
    ],
}
FIND = "found = acme.find_library({!r}); print(found.found_via, found.path, found.distribution or '-')"


def put(root: Path, path: str, soname: str, *needed: str) -> Path:
    """Write a library, without any search path."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(tiny_library(soname, needed))
    return root / path


def described(site: Path, name: str, version: str) -> None:
    """Write the metadata of a package."""
    directory = site / f"{name}-{version}.dist-info"
    directory.mkdir()
    (directory / "METADATA").touch()


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Install two of three packages; `sum` needs `base`, and only the order makes it load."""
    site = tmp_path / "site"
    (site / "acme").mkdir(parents=True)
    for source in SOURCES.glob("*.py"):
        (site / "acme" / source.name).write_bytes(source.read_bytes())
    (site / "acme/_packages.json").write_text(json.dumps(TABLE))
    put(site, "_acme_core/lib/libbase.so.1", "libbase.so.1", "libc.so.6")
    put(site, "_acme_math/lib/libsum.so.10", "libsum.so.10", "libbase.so.1")
    described(site, "acme_core", "2.0")
    described(site, "acme_math", "2.0")
    return site


def start(site: Path, code: str, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a program with the packages."""
    program = f"import sys; sys.path.insert(0, {str(site)!r}); import acme; {code}"
    command = [sys.executable, "-I", "-B", "-c", program]
    environment = {"PATH": os.defpath, **variables}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def run(site: Path, code: str, **variables: str) -> str:
    """Run a program; return what it prints."""
    done = start(site, code, variables)
    assert done.returncode == 0, done.stderr
    return done.stdout.rstrip("\n")


def refused(site: Path, code: str) -> str:
    """Run a program that has to fail; return the error."""
    done = start(site, code, {})
    assert done.returncode != 0, done.stdout
    return done.stderr.rstrip().splitlines()[-1]


def test_importing_loads_nothing_else(site: Path) -> None:
    code = "print(sorted(name for name in sys.modules if name.startswith(('acme', 'ctypes', 'json'))))"
    assert run(site, code) == "['acme']"


def test_a_library_is_found_in_its_package_by_short_name_or_file_name(site: Path) -> None:
    expected = f"package {site}/_acme_math/lib/libsum.so.10 acme.math"
    assert run(site, FIND.format("sum")) == expected
    assert run(site, FIND.format("libsum.so.10")) == expected


def test_a_library_loads_after_what_it_needs_of_another_package(site: Path) -> None:
    code = "acme.load_library('sum'); " + FIND.format("base")
    assert run(site, code) == f"loaded {site}/_acme_core/lib/libbase.so.1 acme-core"


def test_one_that_is_loaded_already_comes_first(site: Path, tmp_path: Path) -> None:
    other = put(tmp_path, "other/libbase.so.1", "libbase.so.1")
    code = f"import ctypes; ctypes.CDLL({str(other)!r}); " + FIND.format("base")
    assert run(site, code) == f"loaded {other} -"


@pytest.mark.parametrize(
    ("found_via", "path", "variables"),
    [
        (
            "conda",
            "conda/lib/libextra.so.1",
            {"CONDA_PREFIX": "conda", "LD_LIBRARY_PATH": "system", "ACME_ROOT": "acme"},
        ),
        ("system", "system/libextra.so.1", {"LD_LIBRARY_PATH": "system", "ACME_ROOT": "acme"}),
        ("variable", "acme/lib/libextra.so.1", {"CONDA_PREFIX": "none", "ACME_ROOT": "acme"}),
    ],
)
def test_without_its_package_it_is_found_elsewhere(
    site: Path, tmp_path: Path, found_via: str, path: str, variables: dict[str, str]
) -> None:
    for place in ("conda/lib", "system", "acme/lib"):
        put(tmp_path, f"{place}/libextra.so.1", "libextra.so.1")
    given = {name: str(tmp_path / place) for name, place in variables.items()}
    assert run(site, FIND.format("extra"), **given) == f"{found_via} {tmp_path / path} -"


def test_a_library_of_the_system_that_no_package_has(site: Path) -> None:
    assert re.fullmatch(r"(loaded|system) /\S*/libm\.so\.6 -", run(site, FIND.format("libm.so.6")))


def test_one_that_is_nowhere_is_an_error_that_names_its_package(site: Path) -> None:
    said = refused(site, "acme.load_library('extra')")
    assert said.startswith("acme.search.LibraryNotFoundError: no library libextra.so.1: neither loaded, nor in the ")
    assert said.endswith('below CONDA_PREFIX or ACME_ROOT. Its package brings it: pip install "acme-extra==2.0"')


def test_one_that_no_package_has_is_to_be_installed_otherwise(site: Path) -> None:
    said = refused(site, "acme.find_library('libdriver.so.1')")
    assert said.endswith("ACME_ROOT. No package of this SDK has it: install what does, such as a driver.")


def test_a_version_of_a_dll_is_no_part_of_its_short_name(site: Path) -> None:
    code = """
import acme.table
acme.table.sys = type("Windows", (), {"platform": "win32"})
print([acme.table.read_table().file_name(name) for name in ("sum", "SUM_2.dll", "su", "nosuch.dll")])
"""
    assert run(site, f"exec({code!r})") == "['sum_2.dll', 'sum_2.dll', None, 'nosuch.dll']"


def test_an_unknown_name_is_an_error_that_names_those_that_there_are(site: Path) -> None:
    said = refused(site, "acme.find_library('nosuch')")
    assert said.endswith(
        "no library 'nosuch': expected a file name, or one of libbase.so.1, libextra.so.1, libsum.so.10, libsum.so.9"
    )


def test_installed_packages_are_listed_with_version_and_place(site: Path, tmp_path: Path) -> None:
    """Those beside the code count, although another directory comes first; a left-over empty tree does not."""
    other = tmp_path / "other"
    put(other, "_acme_core/lib/libbase.so.1", "libbase.so.1")
    (site / "_acme_extra").mkdir()
    code = (
        f"sys.path.insert(0, {str(other)!r}); "
        "print(*(f'{one.package.distribution} {one.version} {one.tree}' for one in acme.installed_packages()), sep=';')"
    )
    assert run(site, code) == f"acme-core 2.0 {site}/_acme_core;acme.math 2.0 {site}/_acme_math"


def test_nothing_is_wrong_with_packages_of_one_version(site: Path) -> None:
    assert run(site, "acme.load_library('sum'); print(acme.problems())") == "[]"


def test_a_package_of_another_version_is_named(site: Path) -> None:
    (site / "acme_math-2.0.dist-info").rename(site / "acme_math-1.0.dist-info")
    said = run(site, "print(*acme.problems(), sep=';')")
    assert said == 'acme.math has version 1.0; expected 2.0. Install it: pip install "acme.math==2.0"'


def test_the_unversioned_name_of_a_library_is_of_its_package(site: Path) -> None:
    """Packages have a small library of that name, which needs the versioned one; nothing lists it."""
    put(site, "_acme_math/lib/libsum.so", "libsum.so", "libsum.so.10")
    code = "acme.load_library('sum'); print(acme.find_library('libsum.so').distribution, acme.problems())"
    assert run(site, code) == "acme.math []"


def test_a_loaded_library_of_another_sdk_is_named_whatever_its_version(site: Path, tmp_path: Path) -> None:
    other = put(tmp_path, "other/libsum.so.8", "libsum.so.8")
    code = f"import ctypes; ctypes.CDLL({str(other)!r}); acme.load_library('sum'); print(*acme.problems(), sep=';')"
    assert run(site, code).startswith(f"{other} is loaded; expected this library from the SDK's packages. ")


def test_no_word_is_of_one_sdk_alone() -> None:
    """What users of any SDK get has no name of another."""
    files = [*SOURCES.glob("*.py"), SOURCES.with_name("devel_tree.py")]
    assert len(files) > 7
    words = re.compile(r"rocm|amd(?!64)|\bhip|nvidia", re.IGNORECASE)
    assert [(path.name, found) for path in files for found in words.findall(path.read_text("utf-8"))] == []


def test_a_fork_during_the_first_import_waits_for_it(site: Path) -> None:
    done = start(site, f"exec({slow_import('acme', 'table', 'find_library')!r})", {})
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_packages_in_a_zip_say_so(site: Path, tmp_path: Path) -> None:
    zipped = Path(shutil.make_archive(str(tmp_path / "all"), "zip", site))
    done = start(zipped, "acme.find_library('sum')", {})
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: {zipped}/acme is no directory: shared libraries cannot be loaded from a zip file. Install the "
        "packages with pip, or unpack the file"
    )
