"""Resolves requirements among the files of a stream, and finds those that no file meets.

A requirement counts for machines: a Python, a system and a processor on which the file that has it can be installed.
It is met on one of them by an sdist, or by a wheel with tags for it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from packaging.utils import canonicalize_name
from packaging.version import Version

from lib.index.model import Distribution, Need
from lib.wheel.machines import DEFAULT_PLATFORM, Machine, accepts, fits, holds, machines


@dataclass(frozen=True)
class Unmet:
    """A requirement that nothing meets."""

    by: Distribution
    need: Need
    machine: Machine
    """The first machine on which it is not met."""
    extra: str = ""
    there: tuple[str, ...] = ()
    """The versions of the required project."""
    elsewhere: bool = False
    """Whether a file for other machines meets it."""

    def __str__(self) -> str:
        """Say it to people."""
        extra = f" for [{self.extra}]" if self.extra else ""
        have = f"there is {', '.join(self.there)}" if self.there else "there is none"
        have += ", for other machines only" if self.elsewhere else ""
        return f"{self.by.filename} requires {self.need}{extra}, on {self.machine}: {have}"


class Shelf:
    """Distributions side by side, as an installer sees them on an index."""

    def __init__(self, files: Iterable[Distribution]) -> None:
        """Take the files that an index lists."""
        self._projects: dict[str, list[Distribution]] = {}
        for file in files:
            self._projects.setdefault(file.project, []).append(file)
        self._found: dict[tuple[str, str], list[Distribution]] = {}

    @property
    def projects(self) -> Set[str]:
        """The names of all projects."""
        return self._projects.keys()

    def versions(self, project: str) -> tuple[str, ...]:
        """Return the versions of a project, the newest three first."""
        found: list[Version] = sorted({file.version for file in self._projects.get(project, ())}, reverse=True)
        return tuple(map(str, found[:3])) + (("…",) if len(found) > 3 else ())

    def serving(self, need: Need) -> Sequence[Distribution]:
        """Return the files that a requirement accepts, wherever they can be installed."""
        key = need.project, str(need.requirement.specifier)
        if key not in self._found:
            there = self._projects.get(need.project, ())
            there = [one for one in there if need.pinned or not one.yanked]
            self._found[key] = [one for one in there if accepts(need.requirement, one.version)]
        return self._found[key]


def unmet(
    files: Iterable[Distribution],
    shelf: Shelf,
    of_build: Mapping[str, frozenset[tuple[str, str]]],
    counts: Callable[[str], bool],
) -> Iterator[Unmet]:
    """Yield the requirements of files that nothing on the shelf meets, each with the first extra that has it.

    `of_build` says what the build of a file is for, `counts` whether a project has to be there at all.
    """
    for file in files:
        built_for = of_build.get(file.filename, frozenset([DEFAULT_PLATFORM]))
        where = machines(file.filename, file.requires_python, built_for)
        for need in file.needs:
            if not counts(need.project):
                continue
            offering = [
                one for one in shelf.serving(need) if need.extras <= {canonicalize_name(extra) for extra in one.extras}
            ]
            for extra, machine in _having(file, need, where):
                if not any(fits(one.filename, one.requires_python, machine) for one in offering):
                    yield Unmet(file, need, machine, extra, shelf.versions(need.project), bool(offering))
                    break


def _having(file: Distribution, need: Need, where: Sequence[Machine]) -> Iterator[tuple[str, Machine]]:
    """Yield for which extras, and on which machines, a file has a requirement."""
    for extra in ("", *file.extras) if "extra" in need.marker else ("",):
        yield from ((extra, machine) for machine in where if holds(need.marker, extra, machine))


def required(files: Iterable[Distribution], shelf: Shelf) -> dict[str, set[str]]:
    """Return, for each file, the other files on the shelf that can serve one of its requirements, by name."""
    return {
        file.filename: {one.filename for need in file.needs for one in shelf.serving(need)} - {file.filename}
        for file in files
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
