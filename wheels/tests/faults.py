"""Faults, each planted alone in a set that has none, and the one rule that must find it.

    fault.plant(edited)      # wheels.tests.editing.EditedSet

`faults_test` verifies each set and wants findings of that rule, about that wheel and file, and nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass

from wheels.tests.editing import EditedSet


@dataclass(frozen=True)
class Fault:
    """A fault: `rule` is the identifier that is wanted, `wheel` and `file` what its findings name (parts of it)."""

    rule: str
    name: str
    plant: Callable[[EditedSet], None]
    wheel: str = ""
    file: str = ""
    target: str = ""
    """The GPU target that the set is looked at for."""
    released: bool = False
    """Whether the set without faults is given as the last release."""


#: All faults, in the order of the files that declare them.
FAULTS: list[Fault] = []


def fault(
    rule: str, name: str, wheel: str = "", file: str = "", *, target: str = "", released: bool = False
) -> Callable[[Callable[[EditedSet], None]], Callable[[EditedSet], None]]:
    """Declare a fault; the function that is decorated plants it."""

    def add(plant: Callable[[EditedSet], None]) -> Callable[[EditedSet], None]:
        FAULTS.append(Fault(rule, name, plant, wheel, file, target, released))
        return plant

    return add
