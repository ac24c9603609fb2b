"""The libraries of an SDK: found across its packages, and loaded; in processes of their own."""

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
FIND = "print(acme.find_library({!r}))"


def put(root: Path, path: str, soname: str, *needed: str) -> Path:
    """Write a library, without any search path."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(tiny_library(soname, needed))
    return root / path


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
    expected = f"{site}/_acme_math/lib/libsum.so.10"
    assert run(site, FIND.format("sum")) == expected
    assert run(site, FIND.format("libsum.so.10")) == expected


def test_a_library_loads_after_what_it_needs_of_another_package(site: Path) -> None:
    code = "acme.load_library('sum'); print('/_acme_core/lib/libbase.so.1' in open('/proc/self/maps').read())"
    assert run(site, code) == "True"


def test_one_that_is_nowhere_is_an_error_that_names_its_package(site: Path) -> None:
    said = refused(site, "acme.load_library('extra')")
    assert said == (
        "acme.packages.LibraryNotFoundError: libextra.so.1 is not installed. Its package brings it: pip install "
        '"acme-extra==2.0"'
    )


def test_one_that_its_package_has_lost_is_installed_again(site: Path) -> None:
    (site / "_acme_math/lib/libsum.so.10").rename(site / "_acme_math/lib/libsum.so")
    assert refused(site, "acme.find_library('sum')").endswith('pip install --force-reinstall "acme.math==2.0"')


def test_a_version_of_a_dll_is_no_part_of_its_short_name(site: Path) -> None:
    code = """
import acme.packages
acme.packages.sys = type("Windows", (), {"platform": "win32"})
print([acme.packages.read_table().file_name(name) for name in ("sum", "SUM_2.dll", "su", "nosuch.dll")])
"""
    assert run(site, f"exec({code!r})") == "['sum_2.dll', 'sum_2.dll', None, None]"


def test_an_unknown_name_is_an_error_that_names_those_that_there_are(site: Path) -> None:
    said = refused(site, "acme.find_library('nosuch')")
    assert said.endswith(
        "no library 'nosuch': expected a name of one of libbase.so.1, libextra.so.1, libsum.so.10, libsum.so.9"
    )


def test_packages_beside_the_code_count_although_another_directory_comes_first(site: Path, tmp_path: Path) -> None:
    """A left-over empty tree does not count."""
    other = tmp_path / "other"
    put(other, "_acme_core/lib/libbase.so.1", "libbase.so.1")
    put(other, "_acme_extra/lib/libextra.so.1", "libextra.so.1")
    (site / "_acme_extra").mkdir()
    code = f"sys.path.insert(0, {str(other)!r}); print(acme.find_library('base'), acme.find_library('extra'))"
    assert run(site, code) == f"{site}/_acme_core/lib/libbase.so.1 {other}/_acme_extra/lib/libextra.so.1"


def test_no_word_is_of_one_sdk_alone() -> None:
    """What users of any SDK get has no name of another."""
    files = [*SOURCES.glob("*.py"), SOURCES.with_name("devel_tree.py")]
    assert len(files) > 5
    words = re.compile(r"rocm|amd(?!64)|\bhip|nvidia", re.IGNORECASE)
    assert [(path.name, found) for path in files for found in words.findall(path.read_text("utf-8"))] == []


def test_a_fork_during_the_first_import_waits_for_it(site: Path) -> None:
    done = start(site, f"exec({slow_import('acme', 'packages', 'find_library')!r})", {})
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_packages_in_a_zip_say_so(site: Path, tmp_path: Path) -> None:
    zipped = Path(shutil.make_archive(str(tmp_path / "all"), "zip", site))
    done = start(zipped, "acme.find_library('sum')", {})
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: {zipped}/acme is no directory: shared libraries cannot be loaded from a zip file. Install the "
        "packages with pip, or unpack the file"
    )
