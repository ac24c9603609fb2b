"""Compares coverage tables with each other, and says what a GPU target lacks. Pure functions.

differences(expected, found)   # every pair of a library and a target that only one of the two has
refused(coverage, targets)     # targets that lack so much that they should not be offered
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lib.coverage.table import Coverage, collect
from lib.gpus.architectures import covered, loads
from lib.gpus.families import without_features

#: A library is a base library, in the eyes of a target, if it serves this part of all other targets, in percent.
BASE_PERCENT = 80
#: With fewer other targets than these no library can be said to serve "nearly all".
BASE_OTHERS = 3


def serves(codes: Iterable[str], target: str) -> bool:
    """Whether a GPU of the target can load any of the code, given by target IDs."""
    return any(loads(code, target) for code in codes)


def processors(coverage: Coverage) -> tuple[str, ...]:
    """Return the processors for which any library has code, generic code too, sorted as people do."""
    found = {processor for code in coverage.targets for processor in covered(code)}
    return tuple(sorted(found, key=lambda processor: (len(processor), processor)))


def lacking(coverage: Coverage, target: str) -> tuple[str, ...]:
    """Return the libraries that have device code, but none for a target, sorted."""
    return tuple(library for library, codes in coverage.libraries.items() if not serves(codes, target))


def base_libraries(coverage: Coverage, target: str) -> tuple[str, ...]:
    """Return the libraries that serve BASE_PERCENT of all processors but the target's; none if those are too few."""
    others = [one for one in processors(coverage) if one != without_features(target)]
    if len(others) < BASE_OTHERS:
        return ()
    return tuple(
        library
        for library, codes in coverage.libraries.items()
        if 100 * sum(serves(codes, other) for other in others) >= BASE_PERCENT * len(others)
    )


@dataclass(frozen=True)
class Refused:
    """A target that should not be offered, and the libraries, of those that nearly all others have, that it lacks."""

    target: str
    libraries: tuple[str, ...]


def refused(coverage: Coverage, targets: Collection[str]) -> list[Refused]:
    """Return the targets that lack most base libraries, or all libraries there are, sorted.

    One missing base library is no reason: there are libraries, such as RCCL, that all targets have but a few. Who lacks
    more than half of the base libraries cannot be worked with.
    """
    found = []
    for target in sorted(set(targets)):
        missing = lacking(coverage, target)
        base = base_libraries(coverage, target)
        missing_base = tuple(library for library in base if library in missing)
        if 2 * len(missing_base) > len(base) or (missing and len(missing) == len(coverage.libraries)):
            found.append(Refused(target, missing_base or missing))
    return found


def lacks_by_processor(coverage: Coverage) -> Mapping[str, tuple[str, ...]]:
    """Return what each processor lacks, for those that have code in any library."""
    return {processor: lacking(coverage, processor) for processor in processors(coverage)}


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
    pairs = ((library, code) for library, codes in coverage.libraries.items() for code in codes)
    return collect(pair for pair in pairs if any(loads(pair[1], target) for target in compared))


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
