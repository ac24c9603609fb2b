"""The devel tree on Windows when something goes wrong: killed, and with files in use; under wine.

.ci/run windows-packages
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.windows.machine import Wine, install_python
from tests.e2e.windows.packages_test import EVERYTHING, INSTALLED, PIP, Python

#: How many links are there when the process that makes them is killed.
MOMENTS = (0, 1, 2, 4, 8)
#: Loads a library, and keeps it until a line is written to it.
HOLDER = (
    "import rocm_sdk, sys; rocm_sdk.preload_libraries('amdhip64'); print('loaded', flush=True); sys.stdin.readline()"
)


@pytest.fixture
def python(machine: Wine, page: str, fetched: Path, tmp_path: Path) -> Python:
    made = Python(machine, install_python(fetched, tmp_path))
    made.install(page, EVERYTHING)
    return made


def count(tree: Path) -> int:
    return sum(1 for _ in tree.rglob("*"))


def listing(tree: Path) -> dict[str, bytes]:
    return {str(path.relative_to(tree)): path.read_bytes() for path in tree.rglob("*") if path.is_file()}


@contextmanager
def held(python: Python) -> Iterator[None]:
    """Use a DLL of the core package meanwhile."""
    with python.machine.start(python.program, "-c", HOLDER) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == "loaded\n"
        yield
        process.stdin.write("\n")


def test_links_are_finished_after_it_was_killed(python: Python) -> None:
    tree = python.site / "_rocm_sdk_devel"
    shipped = count(tree)
    for moment in MOMENTS:
        with python.machine.start(python.program, "-m", "rocm_sdk", "init") as process:
            while process.poll() is None and count(tree) < shipped + moment:
                time.sleep(0.001)
            process.kill()
    python("-m", "rocm_sdk", "init")
    killed = listing(tree)
    assert "bin/amdhip64_7.dll" in killed
    python(*PIP, "uninstall", "--yes", "rocm-sdk-devel")
    assert not tree.exists()


def test_files_in_use_stay_and_the_rest_is_linked_and_uninstalled(python: Python, page: str) -> None:
    """Windows keeps the file of a loaded DLL: pip moves it aside, says so, and packages can be installed again."""
    with held(python):
        python("-m", "rocm_sdk", "init")
        assert (python.site / "_rocm_sdk_devel/bin/amdhip64_7.dll").exists()
        done = python.machine.run(python.program, *PIP, "uninstall", "--yes", *INSTALLED)
        assert done.returncode == 0, done.stderr
        assert not list(python.site.glob("*rocm_sdk*[!_]/__init__.py"))
    assert {path.name for path in python.site.glob("*rocm*")} <= {"~rocm_sdk_core", "~rocm_sdk_devel"}
    python.install(page, EVERYTHING)
    python("-m", "rocm_sdk", "init")
    assert (python.site / "_rocm_sdk_devel/bin/amdhip64_7.dll").exists()
