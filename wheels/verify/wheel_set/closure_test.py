"""Tests of what is there whenever a distribution is."""

import pytest
from packaging.requirements import Requirement
from packaging.tags import Tag, parse_tag
from packaging.version import Version

from wheels.verify.wheel_set.closure import applies, by_name, candidates, closure
from wheels.verify.wheel_set.model import Package


def package(
    name: str, version: str, *requires: str, extras: tuple[str, ...] = (), tag: str = "py3-none-any"
) -> Package:
    """Make a wheel's record."""
    tags: frozenset[Tag] = parse_tag(tag)
    wanted = tuple(Requirement(text) for text in requires)
    return Package(f"{name}-{version}-{tag}.whl", name, Version(version), tags, wanted, frozenset(extras))


def names(package: Package, *packages: Package) -> list[str]:
    """Return the file names of a closure, without versions."""
    return [one.name for one in closure(package, by_name([package, *packages]))]


def test_all_that_is_required_and_no_more() -> None:
    top = package("top", "1", "middle==1", 'more; extra == "all"', extras=("all",))
    middle, base = package("middle", "1", "base>=1"), package("base", "1.dev3")
    assert names(top, middle, base, package("more", "1")) == ["top", "middle"]
    assert names(top, middle, package("base", "2"), package("more", "1")) == ["top", "base", "middle"]


def test_extras_that_requirements_name() -> None:
    lib = package("lib", "1", 'part; extra == "gpu-x"', 'other; extra == "y"', extras=("gpu-x", "y"))
    assert names(package("top", "1", "lib[GPU_x]"), lib, package("part", "1"), package("other", "1")) == [
        "top",
        "lib",
        "part",
    ]


def test_circles_end() -> None:
    assert names(package("a", "1", "b"), package("b", "1", "a")) == ["a", "b"]


def test_of_one_name_that_with_the_same_tags_is_taken() -> None:
    tag = "py3-none-linux_aarch64"
    top = package("top", "1", "lib", tag=tag)
    lib = [package("lib", "1", tag=one) for one in ("py3-none-linux_x86_64", tag)]
    assert closure(top, by_name([top, *lib]))[1] is lib[1]


def test_markers() -> None:
    assert applies(Requirement("a; python_version < '3.10'"))
    assert not applies(Requirement("a; sys_platform == 'win32'"))
    assert not applies(Requirement("a; extra == 'x'"))
    assert applies(Requirement("a; extra == 'x'"), "x")


@pytest.mark.parametrize(
    ("tag", "marker", "expected"),
    [
        ("cp312-cp312-linux_x86_64", "python_version < '3.12'", False),
        ("cp312-abi3-linux_x86_64", "python_version > '3.12'", True),
        ("cp312-cp312-linux_x86_64", "python_version > '3.12'", False),
        ("py312-none-any", "python_version > '3.12'", True),
        ("py2.py3-none-any", "python_version == '3.9'", True),
        ("cp38-cp38-linux_x86_64", "python_version == '3.9'", True),
        ("cp312-cp312-linux_x86_64.linux_aarch64", "platform_machine == 'aarch64'", True),
        ("cp312-cp312-linux_x86_64", "platform_machine == 'aarch64'", False),
        ("cp312-cp312-manylinux_2_28_aarch64", "platform_machine == 'x86_64'", False),
    ],
)
def test_markers_count_for_the_pythons_and_machines_of_a_wheel(tag: str, marker: str, *, expected: bool) -> None:
    assert applies(Requirement(f"a; {marker}"), tags=parse_tag(tag)) == expected


def test_development_versions_count() -> None:
    found = candidates(Requirement("a>=1"), by_name([package("a", "2.dev0"), package("a", "0.9")]))
    assert [str(one.version) for one in found] == ["2.dev0"]
