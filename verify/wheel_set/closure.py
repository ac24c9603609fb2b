"""Which distributions are there whenever one of them is: what it requires, what that requires, and so on.

Of several wheels of one name one is installed: here the one whose tags are those of the package that requires it, else
the first by file name.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from packaging.markers import UndefinedComparison, UndefinedEnvironmentName, default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from verify.wheel_set.model import Package

#: The Pythons of which a requirement must hold to count.
_PYTHONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")


def by_name(packages: Iterable[Package]) -> dict[str, list[Package]]:
    """Return the distributions by their names."""
    found: dict[str, list[Package]] = {}
    for package in packages:
        found.setdefault(package.name, []).append(package)
    return found


_LINUX = {"os_name": "posix", "sys_platform": "linux", "platform_system": "Linux"}
_WINDOWS = {"os_name": "nt", "sys_platform": "win32", "platform_system": "Windows", "platform_machine": "AMD64"}


def applies(requirement: Requirement, extra: str = "", *, is_windows: bool = False) -> bool:
    """Whether a requirement counts on Linux, or Windows, for any of the Pythons, when an extra is wished for."""
    if requirement.marker is None:
        return not extra
    environment = {key: str(value) for key, value in default_environment().items()} | {"extra": extra}
    system = _WINDOWS if is_windows else _LINUX
    system = system | {"implementation_name": "cpython", "platform_python_implementation": "CPython"}
    pythons = ({"python_version": python, "python_full_version": f"{python}.0"} for python in _PYTHONS)
    try:
        return any(requirement.marker.evaluate(environment | system | python) for python in pythons)
    except (UndefinedComparison, UndefinedEnvironmentName):
        return False  # W302 says so.


def candidates(requirement: Requirement, packages: Mapping[str, Sequence[Package]]) -> list[Package]:
    """Return the distributions of the set that satisfy a requirement; development versions count."""
    found = packages.get(canonicalize_name(requirement.name), ())
    return [one for one in found if requirement.specifier.contains(one.version, prereleases=True)]


def closure(package: Package, packages: Mapping[str, Sequence[Package]]) -> tuple[Package, ...]:
    """Return the package and all that it requires, as far as the set has it; extras that requirements name count.

    The first is the package itself, the others are sorted by file name.
    """
    chosen = {package.name: package}
    wanted = [(package, "")]
    seen = set()
    while wanted:
        current, extra = wanted.pop()
        if (current.name, extra) in seen:
            continue
        seen.add((current.name, extra))
        for requirement in current.requires:
            if applies(requirement, extra, is_windows=package.is_windows):
                wanted += _chosen(requirement, current, chosen, packages)
    others = sorted((one for one in chosen.values() if one is not package), key=lambda one: one.filename)
    return (package, *others)


def _chosen(
    requirement: Requirement, by: Package, chosen: dict[str, Package], packages: Mapping[str, Sequence[Package]]
) -> Iterator[tuple[Package, str]]:
    """Add what serves a requirement; yield it with the extras that are asked of it."""
    name = canonicalize_name(requirement.name)
    if name not in chosen:
        found = candidates(requirement, packages)
        if not found:
            return
        chosen[name] = min(found, key=lambda one: (not one.is_wheel, not one.tags & by.tags, one.filename))
    yield chosen[name], ""
    for extra in sorted(requirement.extras):
        yield chosen[name], canonicalize_name(extra)
