"""Tests of the policies, which are auditwheel's data."""

import itertools
import sys

import pytest

from lib.common.program import ToolError
from lib.wheel.platform_policy import LINUX_MACHINES, policies_of, promises


@pytest.mark.parametrize("architecture", LINUX_MACHINES)
def test_a_newer_system_has_all_that_an_older_one_has(architecture: str) -> None:
    policies = policies_of(architecture)
    assert len(policies) > 5
    for older, newer in itertools.pairwise(policies):
        assert older.minor < newer.minor
        assert older.libraries <= newer.libraries
        for prefix, versions in older.versions.items():
            assert versions <= newer.versions[prefix], (newer.name, prefix)


def test_none_has_a_newer_glibc_than_its_name_says() -> None:
    """What PEP 600 says: N is the minor version of the oldest glibc; of aarch64, 2_17 has one symbol of 2.18, too."""
    for policy in policies_of("x86_64"):
        found = [tuple(map(int, version.split("."))) for version in policy.versions["GLIBC"] if version[0].isdecimal()]
        assert max(found)[:2] <= (2, policy.minor)


def test_oldest_policy() -> None:
    oldest = policies_of("x86_64")[0]
    assert (oldest.name, oldest.aliases) == ("manylinux_2_5", ("manylinux1",))
    assert (oldest.has_library("libc.so.6"), oldest.has_library("libnuma.so.1")) == (True, False)
    assert (oldest.has_version("GLIBC_2.5"), oldest.has_version("GLIBC_2.6")) == (True, False)


@pytest.mark.parametrize("loader", ["ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "ld64.so.2"])
def test_the_loader_is_always_there(loader: str) -> None:
    assert policies_of("x86_64")[0].has_library(loader)


@pytest.mark.parametrize("name", ["ld-linux", "xld64.so.2", "libld-linux-x86-64.so.2"])
def test_what_is_no_loader(name: str) -> None:
    assert not policies_of("x86_64")[0].has_library(name)


def test_of_a_prefix_without_data_everything_is_taken() -> None:
    assert policies_of("x86_64")[0].has_version("libX_9.9")


def test_private_symbols_of_glibc_are_in_no_policy() -> None:
    assert not any(policy.has_version("GLIBC_PRIVATE") for policy in policies_of("x86_64"))


def test_an_unknown_architecture_has_none() -> None:
    assert policies_of("m68k") == ()


def test_auditwheel_is_not_imported() -> None:
    """Its import would cost each action more than all else that it does."""
    policies_of("x86_64")
    assert "auditwheel" not in sys.modules


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
        *("any", "", "win32", "linux_m68k", "musllinux_1_2_x86_64", "manylinux_2_28_x86_64.any"),
        *("manylinux_2_28", "manylinux_2_4_x86_64", "manylinux1_aarch64", "manylinux_3_1_x86_64"),
        "manylinux2015_x86_64",
    ],
)
def test_what_is_no_tag(tag: str) -> None:
    with pytest.raises(ToolError) as error:
        promises(tag)
    assert str(error.value) == (
        f"platform tag {tag.rpartition('.')[2]!r}: no such tag is known for ELF or PE files; expected linux_ARCH "
        "or manylinux_2_N_ARCH, ARCH being one of x86_64, aarch64, or one of win_amd64, win_arm64"
    )


@pytest.mark.parametrize("name", ["kernel32.dll", "ucrtbase.dll", "api-ms-win-crt-heap-l1-1-0.dll", "vcruntime140.dll"])
@pytest.mark.parametrize("architecture", ["amd64", "arm64"])
def test_what_every_windows_has(architecture: str, name: str) -> None:
    (promise,) = promises(f"win_{architecture}")
    assert promise.policy
    assert promise.policy.has_library(name)


@pytest.mark.parametrize("name", ["amdhip64_7.dll", "msvcp140.dll", "opencl.dll", "KERNEL32.dll", "libc.so.6"])
def test_what_windows_need_not_have(name: str) -> None:
    """Names are to come in lower case."""
    assert not policies_of("amd64")[0].has_library(name)


@pytest.mark.parametrize("tag", ["win_x86_64", "linux_amd64", "manylinux_2_28_amd64"])
def test_tags_that_mix_systems(tag: str) -> None:
    with pytest.raises(ToolError, match=r"expected linux_ARCH or .*, or one of win_amd64, win_arm64$"):
        promises(tag)
