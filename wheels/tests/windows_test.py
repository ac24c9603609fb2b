"""The set for Linux and Windows: one selector, and packages that are judged on the platform that they are for."""

from collections.abc import Callable
from pathlib import Path

import pytest

from develop.testing.pe_sample import Sample
from wheels.tests.editing import EditedSet, EditedWheel, mini_sdk, read_wheel
from wheels.verify.engine import Request, verify
from wheels.verify.settings import Settings

DIST = mini_sdk("windows")
BIN = "_rocm_sdk_core/bin"
#: What the development tree has links to is not there any more.
OF_DEVEL = {"S152", "S153"}


class WindowsSet(EditedSet):
    """The set, of which the wheels for Windows are changed."""

    def windows(self, name: str) -> EditedWheel:
        """Return the wheel for Windows of a distribution."""
        filename = f"{name}-7.10.0.dev0-py3-none-win_amd64.whl"
        if filename in self.others:
            self.add(read_wheel(self.others.pop(filename)))
        return self._wheels[filename]

    def wheel(self, prefix: str) -> EditedWheel:
        """Return the same, as what changes the links of the development tree asks for it."""
        return self.windows(prefix)


def no_change(edited: WindowsSet) -> None:
    """Change nothing."""


def moved(edited: WindowsSet) -> None:
    """Move a DLL to where the runtime does not look for it."""
    files = edited.windows("rocm_sdk_core").files
    files["_rocm_sdk_core/lib/amd_comgr0701.dll"] = files.pop(f"{BIN}/amd_comgr0701.dll")


def removed(edited: WindowsSet) -> None:
    """Leave out the package of a GPU, which for Linux is there."""
    del edited.others["rocm_sdk_device_gfx1100-7.10.0.dev0-py3-none-win_amd64.whl"]


def other_runtime(edited: WindowsSet) -> None:
    """Leave out the DLL of another package that the libraries need."""
    del edited.windows("rocm_sdk_core").files[f"{BIN}/amdhip64_7.dll"]


def put_program(edited: WindowsSet, path: str, library: str) -> None:
    """Add a program to the development tree."""
    program = Sample(dll=False, name=None, exports=(), imports=((library, ("function",)),)).build()
    edited.windows("rocm_sdk_devel").files[f"_rocm_sdk_devel/{path}"] = program


def program_with_its_dll(edited: WindowsSet) -> None:
    """Add a program to the development tree, beside the DLL that it needs."""
    put_program(edited, "bin/checker.exe", "AMDHIP64_7.dll")


def program_elsewhere(edited: WindowsSet) -> None:
    """Add a program to another directory of it."""
    put_program(edited, "tests/checker.exe", "amdhip64_7.dll")


def program_without_dll(edited: WindowsSet) -> None:
    """Add a program that needs what nobody has."""
    put_program(edited, "bin/checker.exe", "nobodys.dll")


@pytest.mark.parametrize(
    ("change", "rule", "wheel"),
    [
        (no_change, "", ""),
        (moved, "S175", "rocm_sdk_core-7.10.0.dev0-py3-none-win_amd64.whl"),
        (removed, "S138", "rocm-7.10.0.dev0.tar.gz"),
        (program_with_its_dll, "", ""),
        (program_elsewhere, "S175", "rocm_sdk_devel-7.10.0.dev0-py3-none-win_amd64.whl"),
        (program_without_dll, "S171", "rocm_sdk_devel-7.10.0.dev0-py3-none-win_amd64.whl"),
        (other_runtime, "S171", "rocm_sdk_libraries-7.10.0.dev0-py3-none-win_amd64.whl"),
    ],
)
def test_each_platform_by_itself(change: Callable[[WindowsSet], None], rule: str, wheel: str, tmp_path: Path) -> None:
    edited = WindowsSet(DIST, tmp_path / "dist")
    change(edited)
    found = verify([edited.save()], Request(Settings(debug_info=True))).judged.findings
    said = {(one.id, one.wheel) for one in found}
    assert {one for one, _ in said} - OF_DEVEL == ({rule} if rule else set()), said
    assert not rule or (rule, wheel) in said
