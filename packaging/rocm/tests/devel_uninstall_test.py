"""Uninstalling with real installers after what can go wrong: nothing is left behind, in any order."""

from __future__ import annotations

import pytest
from environments import Environment
from fake_sdk import FakeSdk

TREE = "_rocm_sdk_devel"
PACKAGES = ("rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-device-gfx942", "rocm-sdk-devel")
# Ends the process before the named function of `rocm_sdk.devel.expand` is called for the N-th time.
DIE = """
import os, sys
from rocm_sdk.devel import devel_root, expand
name, left = sys.argv[1], [int(sys.argv[2])]
function = getattr(expand, name)
def die(*arguments, **keywords):
    left[0] -= 1
    if not left[0]:
        os._exit(9)
    return function(*arguments, **keywords)
setattr(expand, name, die)
devel_root()
print("survived")
"""
# As where protected_hardlinks forbids them, or the file system has none.
WITHOUT_HARD_LINKS = """
import os
def refuse(*_):
    raise OSError(1, "Operation not permitted")
os.link = refuse
from rocm_sdk.devel import devel_root
devel_root()
"""


def install(environment: Environment, sdk: FakeSdk) -> set[str]:
    """Install everything, and return what was there before."""
    before = environment.files()
    environment.install(sdk.index, "rocm[libraries,devel,device-gfx942]")
    return before


@pytest.mark.parametrize(("function", "time"), [("_finish", 1), ("write_content", 1), ("write_rows", 2)])
def test_after_an_interrupted_expansion(
    any_environment: Environment, split_sdk: FakeSdk, function: str, time: int
) -> None:
    before = install(any_environment, split_sdk)
    assert any_environment.run_code(DIE, function, str(time), check=False) == ""
    assert (any_environment.site / TREE / "include/hip.h").exists()
    any_environment.uninstall("rocm", *PACKAGES)
    any_environment.check_restored(before)


@pytest.mark.parametrize(("function", "time"), [("make_hard_links", 1), ("make_symlinks", 1), ("write_state", 2)])
def test_after_an_interrupted_change_of_links(
    any_environment: Environment, split_sdk: FakeSdk, function: str, time: int
) -> None:
    before = any_environment.files()
    any_environment.install(split_sdk.index, "rocm[devel]")
    any_environment.rocm_sdk("init")
    any_environment.install(split_sdk.index, "rocm-sdk-device-gfx942")
    assert any_environment.run_code(DIE, function, str(time), check=False) == ""
    any_environment.uninstall("rocm", *PACKAGES)
    any_environment.check_restored(before)


@pytest.mark.parametrize("first", PACKAGES[:2])
def test_without_hard_links(any_environment: Environment, split_sdk: FakeSdk, first: str) -> None:
    before = install(any_environment, split_sdk)
    any_environment.run_code(WITHOUT_HARD_LINKS)
    assert (any_environment.site / TREE / "lib/libamdhip64.so.5").is_symlink()
    assert not (any_environment.site / TREE / "bin/hipcc").is_symlink()
    assert "0 failed" in any_environment.rocm_sdk("test", "-k", "devel")
    any_environment.uninstall(first)
    any_environment.uninstall("rocm", *[name for name in PACKAGES if name != first])
    any_environment.check_restored(before)
