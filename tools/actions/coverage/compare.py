"""Compares the coverage table of a build with the one that a release engineer committed. Pure functions.

differences(expected, found)   # every pair of a library and a target that only one of the two has
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tools.actions.coverage.lacks import serves
from tools.actions.coverage.table import Coverage, collect
from tools.lib.device.target_id import parse_target_id


@dataclass(frozen=True)
class Difference:
    """How a library differs: the target IDs that only one of the two tables has."""

    library: str
    #: Expected, but there is no code.
    missing: tuple[str, ...]
    #: There is code, but none was expected.
    unexpected: tuple[str, ...]
    #: Whether the library itself is in one of the tables alone.
    whole: bool = False

    def describe(self) -> Iterator[str]:
        """Yield lines for people."""
        if self.whole and self.missing:
            yield f"  {self.library} is gone; expected code for {', '.join(self.missing)}"
        elif self.whole:
            yield f"  {self.library} is new, with code for {', '.join(self.unexpected)}"
        else:
            yield f"  {self.library}"
            if self.missing:
                yield f"    has no code for {', '.join(self.missing)}; expected some"
            if self.unexpected:
                yield f"    has code for {', '.join(self.unexpected)}; expected none"


def restricted(coverage: Coverage, compared: Sequence[str]) -> Coverage:
    """Return the part of a table about code that GPUs of some targets can load; all of it if none is given."""
    if not compared:
        return coverage
    wanted = [parse_target_id(target) for target in compared]
    pairs = ((library, code) for library, codes in coverage.libraries.items() for code in codes)
    return collect(pair for pair in pairs if any(serves([pair[1]], target) for target in wanted))


def differences(expected: Coverage, found: Coverage) -> list[Difference]:
    """Return how two tables differ, by library, sorted; none if they are equal."""
    result = []
    for library in sorted({*expected.libraries, *found.libraries}):
        wanted, there = (set(table.libraries.get(library, ())) for table in (expected, found))
        if wanted != there:
            missing, unexpected = tuple(sorted(wanted - there)), tuple(sorted(there - wanted))
            result.append(Difference(library, missing, unexpected, whole=not (wanted and there)))
    return result


def accepted(expected: Coverage, found: Coverage, compared: Sequence[str]) -> Coverage:
    """Return the table to commit: what was found, and of targets that were not compared what was expected before."""
    kept = restricted(expected, compared)
    pairs = {(library, code) for library, codes in expected.libraries.items() for code in codes}
    pairs -= {(library, code) for library, codes in kept.libraries.items() for code in codes}
    new = restricted(found, compared)
    return collect(pairs | {(library, code) for library, codes in new.libraries.items() for code in codes})
