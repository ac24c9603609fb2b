"""Defines a check of .ci/run."""

from collections.abc import Callable
from dataclasses import dataclass

from develop.ci.machine import Machine
from develop.ci.results import Count

#: What a check holds: the whole machine, so that no other check runs beside it.
ALL = "the whole machine"
#: Bazel in this workspace, and its outputs.
BUILD = "the build of this workspace"
#: The packages of the machine: making a root may install some.
APT = "apt"
#: The ports of remote engines.
ENGINES = "engines"
#: The directory of installers, which fetches and unpacks them when they are first asked for.
INSTALLERS = "installers"


@dataclass(frozen=True)
class Requirement:
    """A condition without which a check cannot run."""

    #: Says what is missing; empty if all is there. Raises FailedError if what was named is not there.
    missing: Callable[[], str]
    #: Whether a machine may go without it, also with CI=true: an input that nobody can fetch.
    is_optional: bool = False


@dataclass(frozen=True)
class Check:
    """One check."""

    #: For the command line: lower case, with hyphens; checks that belong together begin alike.
    name: str
    #: What it shows.
    sentence: str
    #: Runs the check; raises FailedError. A check that runs tests of its own may count them.
    run: Callable[[Machine], Count | None]
    needs: tuple[Requirement, ...] = ()
    #: What no other check may use meanwhile; empty if there is nothing.
    holds: str = BUILD
    #: The files of tests that it runs.
    tests: tuple[str, ...] = ()
