"""What a module of checks offers to the engine.

    SUITE = Suite(rules=(MISSING, WRONG), check_wheel=check)

The engine reads every member of every wheel once. Where a check needs more than `verify.model` has, a `Collector`
of its suite takes it out of the bytes, in the process that reads them; what it returns is then in
`wheel.files[path].collected[collector.name]`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from wheels.verify.finding import Finding, Rule
from wheels.verify.model import DistributionSet, Wheel
from wheels.verify.settings import Settings


class Stream(Protocol):
    """Takes the bytes of one file in their order, as they are inflated."""

    def feed(self, data: bytes) -> None:
        """Take the next bytes: 1 MiB or less, never none."""

    def finish(self) -> object:
        """Return what was found, once all bytes were there. It is pickled: only plain values and dataclasses."""


@dataclass(frozen=True)
class Collector:
    """Facts to be taken out of the bytes of files. All functions are called in other processes; none may raise.

    Give `stream`, which is fed in the one pass over all bytes, or `inspect`, which is called afterwards with the file
    open and seekable: reading forward in it costs inflating again, a seek costs inflating 2 MiB on average. Its second
    argument names the file, for errors.
    """

    name: str
    wants: Callable[[str, int, bytes], bool]
    """Whether a file is of interest: its path in the wheel, its size in bytes, and its first bytes (4096 or all)."""
    stream: Callable[[str], Stream] | None = None
    """Begin with a file, given its path."""
    inspect: Callable[[BinaryIO, str], object] | None = None
    """Return what is in a file, or None."""


@dataclass(frozen=True)
class Suite:
    """Rules, and the functions that look whether they are kept."""

    rules: tuple[Rule, ...]
    check_wheel: Callable[[Wheel, Settings], Iterable[Finding]] | None = None
    """Looks at one wheel by itself."""
    check_set: Callable[[DistributionSet, Settings], Iterable[Finding]] | None = None
    """Looks at all distributions together."""
    collectors: tuple[Collector, ...] = ()
