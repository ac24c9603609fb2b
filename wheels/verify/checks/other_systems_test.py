"""Wheels for systems other than Linux with glibc: nothing false is said of them, and nothing is passed over."""

from pathlib import Path

import pytest

from develop.testing.elf_sample import Sample as ElfSample
from develop.testing.pe_sample import Sample as PeSample
from develop.testing.wheel_sample import METADATA, Sample
from wheels.verify.engine import Request, verify


def rules(folder: Path, sample: Sample) -> dict[str, str]:
    """Return the rules that a wheel breaks, with their severities."""
    path = folder / sample.filename
    path.write_bytes(sample.build())
    found = verify([path], Request(processes=1)).judged.findings
    return {finding.id: finding.severity.value for finding in found}


@pytest.mark.parametrize(
    ("needed", "platform", "is_missing"),
    [
        ("libc.musl-aarch64.so.1", "musllinux_1_2_aarch64", False),
        ("libc.musl-x86_64.so.1", "musllinux_1_1_x86_64", False),
        ("ld-musl-x86_64.so.1", "musllinux_1_1_x86_64", False),
        ("libc.so", "musllinux_1_1_x86_64", False),
        ("libc.musl-x86_64.so.1", "linux_x86_64", False),
        ("libc.musl-x86_64.so.1", "manylinux_2_28_x86_64", True),
        ("libc.musl-x86_64.so.1", "manylinux_2_28_x86_64.musllinux_1_1_x86_64", True),
        ("libc.so.6", "musllinux_1_1_x86_64", True),
        ("libstdc++.so.6", "musllinux_1_1_x86_64", True),
        ("libc.so.6", "manylinux_2_28_x86_64", False),
    ],
)
def test_the_c_library_of_each_system(needed: str, platform: str, is_missing: bool, tmp_path: Path) -> None:
    library = ElfSample(soname="liba.so", needed=(needed,)).build()
    assert ("S101" in rules(tmp_path, Sample({"a/liba.so": library}, tag=f"py3-none-{platform}"))) == is_missing


@pytest.mark.parametrize(
    ("name", "data", "is_code"),
    [
        ("a/lib.dll", PeSample().build(), True),
        ("a/lib.pyd", PeSample().build(), True),
        ("a/launcher.exe", PeSample(dll=False).build(), False),
        ("a/lib.so", ElfSample(soname="lib.so").build(), True),
    ],
)
def test_libraries_in_a_wheel_for_any_platform(name: str, data: bytes, is_code: bool, tmp_path: Path) -> None:
    assert ("W306" in rules(tmp_path, Sample({name: data}, tag="py3-none-any"))) == is_code


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # setuptools has written License-File since long before metadata 2.4; a sixth of PyPI's wheels have it.
        ("Metadata-Version: 2.4", "Metadata-Version: 2.1", {}),
        ("Metadata-Version: 2.4", "Metadata-Version: 9.9", {"W302": "error"}),
        ("Summary: A sample", "Summary: A sample\nRequires-Dist: ;;", {"W302": "error"}),
    ],
)
def test_metadata_that_indexes_serve(old: str, new: str, expected: dict[str, str], tmp_path: Path) -> None:
    metadata = METADATA.replace("License-Expression: MIT\n", "").replace(old, new)
    found = rules(tmp_path, Sample(metadata=metadata))
    assert {rule: severity for rule, severity in found.items() if rule == "W302"} == expected
