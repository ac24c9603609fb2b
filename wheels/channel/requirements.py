"""Who requires whom among the files of a stream, and which requirements nothing meets.

A requirement counts for machines: a Python, a system and a processor on which the file that has it can be installed.
It is met on one of them by an sdist, or by a wheel with tags for it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lib.wheel.machines import DEFAULT_PLATFORM, Machine, fits, holds, machines, platforms
from wheels.channel.model import File, StreamState
from wheels.verify.wheel_set.closure import accepts


@lru_cache(maxsize=100_000)
def parse(text: str) -> tuple[Requirement, str, str]:
    """Return a requirement, the normalised name that it has, and its marker as text."""
    requirement = Requirement(text)
    return requirement, canonicalize_name(requirement.name), str(requirement.marker or "")


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
