"""The development tree when processes die while they make it, or make it all at once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_sdk import PACKAGES, distributions
from rocm_sdk.devel import devel_root
from trees import TREE, own_files, recorded, tree_of

WRITES = frozenset(("open", "os.mkdir", "os.rename", "os.link", "os.symlink", "os.remove", "os.rmdir", "shutil.rmtree"))


TEMPORARY = {f"{TREE}/.rocm-sdk-{name}.json.new" for name in ("state", "content")}


def die_at(step: int, site: Path) -> bool:
    """Call devel_root in a child that is killed before its `step`-th change below `site`; True if it came to that."""
    child = os.fork()
    if child == 0:
        left = [step]

        def hook(event: str, arguments: tuple[object, ...]) -> None:
            if event in WRITES and str(arguments[0]).startswith(str(site)):
                left[0] -= 1
                if left[0] == 0:
                    os._exit(9)

        sys.addaudithook(hook)
        try:
            devel_root()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def prepare_first(site: Path) -> None:
    """Have no tree, as after installation."""
    shutil.rmtree(site / TREE, ignore_errors=True)


def prepare_relink(site: Path) -> None:
    """Have a tree without the device package, which then comes."""
    info = site / "rocm_sdk_device_gfx942-7.10.0.dev0.dist-info"
    info.rename(site / "away")
    devel_root()
    (site / "away").rename(info)


def prepare_unlink(site: Path) -> None:
    """Have a tree with a package linked in, which then goes."""
    info = site / "rocm_sdk_device_gfx942-7.10.0.dev0.dist-info"
    if not info.exists():
        (site / "away").rename(info)
    devel_root()
    info.rename(site / "away")


@pytest.mark.parametrize("prepare", [prepare_first, prepare_relink, prepare_unlink])
def test_death_at_any_step_is_repaired_by_the_next_call(site: Path, prepare: Callable[[Path], None]) -> None:
    prepare(site)
    devel_root()
    whole, rows = tree_of(site), recorded(site)
    for step in range(1, 1000):
        prepare(site)
        if not die_at(step, site):
            assert step > 10
            break
        covered = recorded(site)
        assert TREE in covered or own_files(site) - covered <= TEMPORARY
        devel_root()
        assert tree_of(site) == whole, step
        assert recorded(site) == rows, step
        assert not list(site.rglob("*.new")), step


def test_a_package_that_goes_after_a_death_takes_its_links_along(site: Path) -> None:
    prepare_unlink(site)
    devel_root()
    whole, rows = tree_of(site), recorded(site)
    for step in range(1, 1000):
        (site / "away").rename(site / "rocm_sdk_device_gfx942-7.10.0.dev0.dist-info")
        died = die_at(step, site)
        (site / "rocm_sdk_device_gfx942-7.10.0.dev0.dist-info").rename(site / "away")
        devel_root()
        assert tree_of(site) == whole, step
        assert recorded(site) == rows, step
        if not died:
            assert step > 10
            break


def test_sixteen_processes_at_once_make_one_tree(site: Path) -> None:
    code = (
        "import sys, json; from rocm_sdk.devel import devel_root, expand, layout\n"
        "from rocm_sdk.distributions import parse_distributions\n"
        "known = parse_distributions(sys.argv[1]); layout.load_distributions = lambda: known\n"
        "unpack = expand.unpack\n"
        "expand.unpack = lambda *a: (sys.stderr.write('unpacked\\n'), unpack(*a))[1]\n"
        "print(devel_root())\n"
    )
    source = PACKAGES / "rocm/src"
    environment = {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{site}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", code, json.dumps(distributions("split"))]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(command, env=environment, **pipes) for _ in range(16)]  # type: ignore[call-overload]
    results = [process.communicate() for process in processes]
    assert {output for output, _ in results} == {f"{site / TREE}\n"}
    assert [errors for _, errors in results if errors] == ["unpacked\n"]
    assert own_files(site) <= recorded(site)
