"""Tests of what platform tags promise."""

import pytest

from tools.actions.platform_tag.promise import promises
from tools.lib.common.errors import ToolError


@pytest.mark.parametrize(
    ("tag", "policy"),
    [
        ("linux_x86_64", None),
        ("linux_aarch64", None),
        ("manylinux1_x86_64", "manylinux_2_5"),
        ("manylinux2014_x86_64", "manylinux_2_17"),
        ("manylinux2014_aarch64", "manylinux_2_17"),
        ("manylinux_2_28_x86_64", "manylinux_2_28"),
        ("manylinux_2_29_x86_64", "manylinux_2_28"),
        ("manylinux_2_32_x86_64", "manylinux_2_31"),
    ],
)
def test_one_tag(tag: str, policy: str | None) -> None:
    (promise,) = promises(tag)
    assert promise.tag == tag
    assert promise.architecture == ("aarch64" if "aarch64" in tag else "x86_64")
    assert (promise.policy.name if promise.policy else None) == policy


def test_a_set_promises_all() -> None:
    found = promises("manylinux_2_17_x86_64.manylinux2014_x86_64.linux_x86_64")
    assert [promise.policy and promise.policy.name for promise in found] == ["manylinux_2_17", "manylinux_2_17", None]


@pytest.mark.parametrize(
    "tag",
    [
        *("any", "", "win_amd64", "linux_m68k", "musllinux_1_2_x86_64", "manylinux_2_28_x86_64.any"),
        *("manylinux_2_28", "manylinux_2_4_x86_64", "manylinux1_aarch64", "manylinux_3_1_x86_64"),
        "manylinux2015_x86_64",
    ],
)
def test_what_is_no_tag_for_elf_files(tag: str) -> None:
    with pytest.raises(ToolError) as error:
        promises(tag)
    assert str(error.value) == (
        f"platform tag {tag.rpartition('.')[2]!r}: no such tag is known for ELF files; expected linux_ARCH or "
        "manylinux_2_N_ARCH, ARCH being one of x86_64, aarch64"
    )
