"""Tells on which Pythons, systems and processors a distribution can be installed, by its name and Requires-Python."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from packaging.markers import Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.tags import Tag
from packaging.utils import parse_wheel_filename
from packaging.version import Version

from lib.wheel.variant_format import split_label

#: The Pythons of which a requirement must hold to count.
PYTHONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")


def has_python(tag: Tag, python: str) -> bool:
    """Whether a wheel with this tag can be installed for a Python (platform compatibility tags, "Use")."""
    match = re.fullmatch(r"(?:cp|py)(\d)(\d*)", tag.interpreter)
    if match is None:
        return False
    major, minor = map(int, python.split("."))
    is_least = tag.interpreter.startswith("py") or tag.abi == "abi3"
    wanted = int(match[2] or 0)
    return int(match[1]) == major and (minor >= wanted if is_least else minor == wanted)


@dataclass(frozen=True)
class Machine:
    """A kind of machine that packages are installed on."""

    python: str
    """Such as 3.12."""
    system: str
    """`Linux` or `Windows`."""
    processor: str
    """As platform tags name it: x86_64."""

    def __str__(self) -> str:
        """Name it for people."""
        return f"Python {self.python} on {self.system} {self.processor}"

    def environment(self, extra: str) -> dict[str, str]:
        """Return the variables of markers (PEP 508)."""
        is_windows = self.system == "Windows"
        names = {"x86_64": "AMD64"} if is_windows else {}
        return {
            "implementation_name": "cpython",
            "implementation_version": f"{self.python}.0",
            "os_name": "nt" if is_windows else "posix",
            "platform_machine": names.get(self.processor, self.processor),
            "platform_python_implementation": "CPython",
            "platform_release": "",
            "platform_system": self.system,
            "platform_version": "",
            "python_full_version": f"{self.python}.0",
            "python_version": self.python,
            "sys_platform": "win32" if is_windows else "linux",
            "extra": extra,
        }


DEFAULT_PLATFORM = ("Linux", "x86_64")


@cache
def tags_of(name: str) -> frozenset[Tag]:
    """Return the tags of a wheel."""
    return parse_wheel_filename(split_label(name)[0])[3]


@cache
def _platform(tag: str) -> tuple[str, str] | None:
    """Return the system and processor of a platform tag, None for any."""
    if tag == "any":
        return None
    if tag.startswith("win"):
        return "Windows", {"win_amd64": "x86_64", "win_arm64": "aarch64"}.get(tag, "x86")
    processors = ("x86_64", "aarch64", "ppc64le", "s390x", "riscv64", "armv7l", "i686")
    return "Linux", next((one for one in processors if tag.endswith(one)), tag)


@cache
def _platforms(name: str) -> frozenset[tuple[str, str]]:
    """Return what a file is for by its name; empty for any."""
    if not name.endswith(".whl"):
        return frozenset()
    return frozenset(one for one in (_platform(tag.platform) for tag in tags_of(name)) if one)


@cache
def _pythons(name: str, requires_python: str) -> frozenset[str]:
    known = SpecifierSet(requires_python)
    found = {python for python in PYTHONS if known.contains(f"{python}.99")}
    if name.endswith(".whl"):
        found = {python for python in found if any(has_python(tag, python) for tag in tags_of(name))}
    return frozenset(found)


def platforms(files: Iterable[str]) -> frozenset[tuple[str, str]]:
    """Return what a build is for: the platforms of its wheels, Linux if none of them has one."""
    return frozenset().union(*map(_platforms, files)) or frozenset([DEFAULT_PLATFORM])


@lru_cache(maxsize=100_000)
def machines(name: str, requires_python: str, of_build: frozenset[tuple[str, str]]) -> tuple[Machine, ...]:
    """Return where a file can be installed; what is for any platform counts on the platforms of its build."""
    pairs = sorted(_platforms(name) or of_build)
    return tuple(
        Machine(python, system, processor)
        for python in sorted(_pythons(name, requires_python), key=lambda text: tuple(map(int, text.split("."))))
        for system, processor in pairs
    )


@lru_cache(maxsize=100_000)
def fits(name: str, requires_python: str, machine: Machine) -> bool:
    """Whether a file can be installed on a machine."""
    there = _platforms(name)
    pythons = _pythons(name, requires_python)
    return machine.python in pythons and (not there or (machine.system, machine.processor) in there)


@lru_cache(maxsize=100_000)
def holds(marker: str, extra: str, machine: Machine) -> bool:
    """Whether a marker holds on a machine, for those who ask for an extra."""
    try:
        return not marker or Marker(marker).evaluate(machine.environment(extra))
    except (UndefinedComparison, UndefinedEnvironmentName, ValueError):
        return False  # rocm-wheels verify says so.


def accepts(requirement: Requirement, version: Version) -> bool:
    """Whether a requirement accepts a version; development versions count.

    None is accepted by numbers of more than 4300 digits, for which Python raises ValueError.
    """
    try:
        return requirement.specifier.contains(version, prereleases=True)
    except ValueError:
        return False
