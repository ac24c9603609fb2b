"""Who requires whom among the files of a stream, and which requirements nothing meets.

A requirement counts for machines: a Python, a system and a processor on which the file that has it can be installed.
It is met on one of them by an sdist, or by a wheel with tags for it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache

from packaging.markers import Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.tags import Tag
from packaging.utils import canonicalize_name, parse_wheel_filename

from lib.variants.variant_format import split_label
from wheels.channel.model import File, StreamState
from wheels.verify.wheel_set.closure import PYTHONS, accepts, has_python


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
def parse(text: str) -> tuple[Requirement, str, str]:
    """Return a requirement, the normalised name that it has, and its marker as text."""
    requirement = Requirement(text)
    return requirement, canonicalize_name(requirement.name), str(requirement.marker or "")


@lru_cache(maxsize=100_000)
def holds(marker: str, extra: str, machine: Machine) -> bool:
    """Whether a marker holds on a machine, for those who ask for an extra."""
    try:
        return not marker or Marker(marker).evaluate(machine.environment(extra))
    except (UndefinedComparison, UndefinedEnvironmentName, ValueError):
        return False  # rocm-wheels verify says so.


@dataclass(frozen=True)
class Unmet:
    """A requirement that nothing meets."""

    by: File
    requirement: str
    machine: Machine
    """The first machine on which it is not met."""
    extra: str = ""
    there: tuple[str, ...] = ()
    """The versions that there are of what it requires."""

    def __str__(self) -> str:
        """Say it to people."""
        extra = f" for [{self.extra}]" if self.extra else ""
        have = f"there is {', '.join(self.there)}" if self.there else "there is none"
        return f"{self.by.name} requires {self.requirement}{extra}, on {self.machine}: {have}"


class Shelf:
    """Files side by side, as an installer sees them on an index."""

    def __init__(self, files: Iterable[File]) -> None:
        """Take the files that an index lists."""
        self._projects: dict[str, list[File]] = {}
        for file in files:
            self._projects.setdefault(file.project, []).append(file)
        self._found: dict[tuple[str, str], list[File]] = {}

    @property
    def projects(self) -> Set[str]:
        """The names of all projects."""
        return self._projects.keys()

    def versions(self, project: str) -> tuple[str, ...]:
        """Return the versions of a project, the newest three first."""
        found = sorted({file.parsed_version for file in self._projects.get(project, ())}, reverse=True)
        return tuple(map(str, found[:3])) + (("…",) if len(found) > 3 else ())

    def serving(self, text: str) -> Sequence[File]:
        """Return the files that a requirement accepts, wherever they can be installed."""
        requirement, project, _ = parse(text)
        key = project, str(requirement.specifier)
        if key not in self._found:
            there = self._projects.get(project, ())
            self._found[key] = [one for one in there if accepts(requirement, one.parsed_version)]
        return self._found[key]


def unmet(
    files: Iterable[File],
    shelf: Shelf,
    of_build: Callable[[str], frozenset[tuple[str, str]]],
    counts: Callable[[str], bool],
) -> Iterator[Unmet]:
    """Yield the requirements of files that nothing on the shelf meets, each with the first extra that has it.

    `of_build` says what the build of a file is for, `counts` whether a project has to be there at all.
    """
    for file in files:
        where = machines(file.name, file.requires_python, of_build(file.name))
        for text in file.requires:
            requirement, project, marker = parse(text)
            if not counts(project):
                continue
            there = shelf.serving(text)
            wanted = {canonicalize_name(extra) for extra in requirement.extras}
            offering = [one for one in there if wanted <= set(map(canonicalize_name, one.extras))] if wanted else there
            missing = _first_missing(file, marker, where, offering)
            if missing:
                extra, machine = missing
                yield Unmet(file, text.partition(";")[0].strip(), machine, extra, shelf.versions(project))


def _first_missing(
    file: File, marker: str, where: Sequence[Machine], offering: Sequence[File]
) -> tuple[str, Machine] | None:
    for extra in ("", *file.extras) if "extra" in marker else ("",):
        for machine in where:
            if not holds(marker, extra, machine):
                continue
            if not any(fits(one.name, one.requires_python, machine) for one in offering):
                return extra, machine
    return None


def required(files: Iterable[File], shelf: Shelf) -> dict[str, set[str]]:
    """Return, for each file, the other files on the shelf that can serve one of its requirements, by name."""
    return {
        file.name: {one.name for text in file.requires for one in shelf.serving(text)} - {file.name} for file in files
    }


def heights(names: Collection[str], needs: Mapping[str, set[str]]) -> dict[str, int]:
    """Return how many steps each file is below a file that no other of `names` requires; circles count once."""
    users: dict[str, set[str]] = {name: set() for name in names}
    for user, serving in needs.items():
        for name in serving & users.keys():
            users[name].add(user)
    found: dict[str, int] = {}

    def height(name: str, above: tuple[str, ...]) -> int:
        if name not in found:
            over = [height(one, (*above, name)) for one in users[name] if one in users and one not in above]
            found[name] = 1 + max(over) if over else 0
        return found[name]

    for name in sorted(names):
        height(name, (name,))
    return found


def build_platforms(stream: StreamState) -> Callable[[str], frozenset[tuple[str, str]]]:
    """Return what says for which platforms the build of a file is."""
    known: dict[str, frozenset[tuple[str, str]]] = {}
    for build in stream.builds:
        known |= dict.fromkeys(build.files, platforms(build.files))
    return lambda name: known.get(name, frozenset([DEFAULT_PLATFORM]))
