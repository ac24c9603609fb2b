"""Preloading: dependencies first, both names of a library, and what is found at all; real libraries, real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fake_sdk import distributions, sdk_source
from rocm_sdk.loading import load_order, unversioned

from develop.testing.tiny_library import tiny_library

CORE, LIBRARIES = "_rocm_sdk_core/lib", "_rocm_sdk_libraries/lib"
LOADED = """
import ctypes, os, sys
import rocm_sdk
rocm_sdk.preload_libraries(*sys.argv[1].split(","), rtld_global=sys.argv[2] == "global")
def has(name):
    try:
        ctypes.CDLL(name, os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return False
    return True
print(*[name for name in sys.argv[3].split(",") if has(name)])
"""


BY_NAME = """
import rocm_sdk
for _ in range(2):
    rocm_sdk._ALL_CDLLS.clear()
    rocm_sdk.initialize_process(preload_shortnames=["amdhip64"])
    print(*rocm_sdk._ALL_CDLLS)
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Lay out core and libraries as in site-packages: no library has an RPATH, so that only order makes them load.

    There is no metadata, as in programs of PyInstaller and where rpm removed RECORD.
    """
    source = tmp_path / "rocm_sdk"
    source.symlink_to(sdk_source())
    for role in ("core", "libraries"):
        init = tmp_path / f"_rocm_sdk_{role}/__init__.py"
        init.parent.mkdir()
        init.touch()
    put(tmp_path, CORE, "libamdhip64.so.7", "librocprofiler.so.1", "libc.so.6")
    put(tmp_path, CORE, "librocprofiler.so.1")
    put(tmp_path, LIBRARIES, "librocblas.so.5", "libamdhip64.so.7")
    put(tmp_path, LIBRARIES, "libhipblas.so.3", "librocblas.so.5", "libamdhip64.so.7")
    return tmp_path


def put(site: Path, directory: str, soname: str, *needed: str, name: str = "", rpath: str = "") -> Path:
    path = site / directory / (name or soname)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(tiny_library(soname, needed, rpath))
    return path


def forwarder(site: Path, directory: str, stem: str, needed: str) -> None:
    put(site, directory, f"{stem}.so", needed, rpath="$ORIGIN")


def run(site: Path, program: str, *arguments: str) -> list[str]:
    """Run a program in a new process, and return the words that it prints."""
    code = f"import sys; sys.path.insert(0, {str(site)!r})\n"
    code += "import rocm_sdk.distributions as d\n"
    code += f"d.load_distributions = lambda *a, k=d.parse_distributions({json.dumps(distributions('split'))!r}): k\n"
    command = [sys.executable, "-B", "-c", code + program, *arguments]
    done = subprocess.run(command, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def preload(site: Path, names: str, asked: str, scope: str = "global") -> list[str]:
    """Preload in a new process and return which of the names `asked` are loaded then."""
    return run(site, LOADED, names, scope, asked)


ALL = "libhipblas.so.3,librocblas.so.5,libamdhip64.so.7,librocprofiler.so.1"


def test_packages_in_directories_of_their_own_are_preloaded(site: Path) -> None:
    """As `pip.parse` of rules_python installs them: each has a place in `sys.path`, and no RPATH leads to another."""
    (site / "elsewhere").mkdir()
    (site / "_rocm_sdk_libraries").rename(site / "elsewhere/_rocm_sdk_libraries")
    program = f"sys.path.append({str(site / 'elsewhere')!r})\n{LOADED}"
    assert run(site, program, "hipblas", "global", ALL) == ALL.split(",")


def test_order_puts_what_is_needed_first(site: Path) -> None:
    directories = [site / CORE, site / LIBRARIES]
    order = load_order([site / LIBRARIES / "libhipblas.so.3", site / CORE / "libamdhip64.so.7"], directories)
    names = [path.name for path in order]
    assert names == ["librocprofiler.so.1", "libamdhip64.so.7", "librocblas.so.5", "libhipblas.so.3"]


def test_order_of_a_circle_has_each_once(site: Path) -> None:
    one = put(site, CORE, "libone.so.1", "libtwo.so.1")
    two = put(site, CORE, "libtwo.so.1", "libone.so.1")
    assert load_order([one], [site / CORE]) == [two, one]
    assert load_order([two], [site / CORE]) == [one, two]


def test_order_follows_the_librarys_own_search_path(site: Path) -> None:
    """Two packages have a library of that name: the file's RPATH decides, else the order of the directories."""
    put(site, CORE, "libx.so.1")
    own = put(site, LIBRARIES, "libx.so.1")
    user = put(site, LIBRARIES, "libuser.so.1", "libx.so.1", rpath="$ORIGIN")
    assert load_order([user], [site / CORE, site / LIBRARIES]) == [own, user]


@pytest.mark.parametrize("scope", ["global", "local"])
def test_libraries_load_that_only_their_dependencies_make_loadable(site: Path, scope: str) -> None:
    assert preload(site, "hipblas", ALL, scope) == ALL.split(",")


def test_both_names_are_opened_of_each_library(site: Path) -> None:
    unversioned_names = "libhipblas.so,librocblas.so,libamdhip64.so"
    assert preload(site, "hipblas", unversioned_names) == []
    for directory, stem, needed in (
        (LIBRARIES, "libhipblas", "libhipblas.so.3"),
        (LIBRARIES, "librocblas", "librocblas.so.5"),
        (CORE, "libamdhip64", "libamdhip64.so.7"),
    ):
        forwarder(site, directory, stem, needed)
    assert preload(site, "hipblas", unversioned_names) == unversioned_names.split(",")


def test_an_optional_library_may_be_absent(site: Path) -> None:
    assert preload(site, "rocdxg,amdhip64", "libamdhip64.so.7") == ["libamdhip64.so.7"]


def test_what_was_asked_for_is_known_by_short_name(site: Path) -> None:
    """As in AMD's packages, whose tests empty this table and look into it again."""
    assert run(site, BY_NAME) == ["amdhip64"] * 2


def test_the_first_cause_is_named_when_a_dependency_does_not_load(site: Path) -> None:
    put(site, CORE, "librocprofiler.so.1", "libnosuch.so.1")
    put(site, CORE, "libhiprtc.so.7")
    code = "libhiprtc.so.7"
    assert preload(site, "hiprtc", code) == [code]
    with pytest.raises(
        AssertionError, match=r"OSError: libnosuch\.so\.1: cannot open .*; librocprofiler\.so\.1: cannot"
    ):
        preload(site, "amdhip64", "libamdhip64.so.7")


def test_a_link_is_no_second_file(tmp_path: Path) -> None:
    library = tmp_path / "libx.so.1"
    library.touch()
    assert unversioned(library) is None
    (tmp_path / "libx.so").symlink_to("libx.so.1")
    assert unversioned(library) is None
    (tmp_path / "libx.so").unlink()
    (tmp_path / "libx.so").touch()
    assert unversioned(library) == tmp_path / "libx.so"
    assert unversioned(tmp_path / "libx.so") is None


def test_a_dependency_that_loads_only_with_the_library_that_needs_it(site: Path) -> None:
    """The loader finds this one's need only through the RPATH of the library that was asked for (gABI: DT_RPATH)."""
    hidden = put(site, f"{LIBRARIES}/hidden", "libhidden.so.1")
    put(site, LIBRARIES, "librocfft.so.0", hidden.name)
    put(site, LIBRARIES, "libhipfft.so.0", "librocfft.so.0", rpath="$ORIGIN:$ORIGIN/hidden")
    names = "libhipfft.so.0,librocfft.so.0,libhidden.so.1"
    assert preload(site, "hipfft", names) == names.split(",")
