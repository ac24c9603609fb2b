"""Wheels that `sdk_split_wheel` made of the mini SDK's libraries for a family: each has the code of one GPU."""

import os
import zipfile
from email import message_from_bytes
from io import BytesIO
from pathlib import Path

import pytest

from lib.device.reader import read_device_code

THIN = Path(os.environ["THIN"])
TARGETS = ("gfx1100", "gfx1101")


def test_a_wheel_for_each_target() -> None:
    found = {str(path.relative_to(THIN)) for path in THIN.rglob("*.whl")}
    name = "rocm_sdk_libraries_gfx110X_all-7.10.0.dev0+{}-py3-none-linux_x86_64.whl"
    assert found == {f"{target}/{name.format(target)}" for target in TARGETS}


@pytest.mark.parametrize("target", TARGETS)
def test_it_has_the_code_of_its_target_and_says_where_it_comes_from(target: str) -> None:
    (path,) = (THIN / target).glob("*.whl")
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        (library,) = [name for name in names if name.endswith("lib/librocblas.so.5")]
        code = read_device_code(BytesIO(wheel.read(library)), library)
        (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        read = message_from_bytes(wheel.read(metadata))
    kept = {str(one.entry.target) for bundle in code.bundles for one in bundle.code_objects if one.size}
    assert kept == {target}
    assert read["Version"] == f"7.10.0.dev0+{target}"
    assert "rocm_sdk_libraries_gfx110X_all-7.10.0.dev0-py3-none-linux_x86_64.whl" in str(read.get_payload())
