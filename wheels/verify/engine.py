"""Reads distributions and runs every check over them.

    outcome = verify([Path("dist")], Request(settings, exceptions))
    outcome.judged.findings

The members of all wheels are shared out among processes, the largest first: inflating and hashing is all the time that
there is. What comes out depends on neither the number of processes nor their order.
"""

import multiprocessing
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from lib.common.command import CannotRunError
from lib.common.program import end_with_parent, usable_cores
from lib.wheel.zip_members import ZipMember
from wheels.verify import registry, release_checks
from wheels.verify.exceptions import DeclaredException, Judged, judge, softened
from wheels.verify.finding import Finding
from wheels.verify.installed_for_target import Chosen, check_unambiguous, choose
from wheels.verify.model import Collector, DistributionSet, FileFacts
from wheels.verify.settings import Settings, build_path
from wheels.verify.wheel import OpenedWheel, Reader, make_wheel, open_wheel, read_members
from wheels.verify.wheel_set import set_checks

#: Members that are read together have up to this many bytes, inflated.
BATCH: Final = 16 << 20
#: More processes would wait for the disk.
MAX_PROCESSES: Final = 8
#: What is read below this many bytes is read at once: a process costs more.
ALONE: Final = 32 << 20


@dataclass(frozen=True)
class Request:
    """Wheels to verify, and options."""

    settings: Settings = field(default_factory=Settings)
    exceptions: tuple[DeclaredException, ...] = ()
    wheel_set: bool = True
    """Whether to look at what lies between the distributions as well."""
    targets: tuple[str, ...] = ()
    """The GPU targets of the machines that the set is for: it is looked at as installed on each of them."""
    others: tuple[Path, ...] = ()
    """Third-party wheels among those to verify, or directories of them: their form is no fault."""
    last_release: tuple[Path, ...] = ()
    """Distributions of the last release, or directories of them: what they have, these should have as well."""
    processes: int = MAX_PROCESSES
    """How many at most; never more than there are cores."""
    collectors: tuple[Collector, ...] = ()
    """What to take out of files besides what the checks need, for who reads and does not check."""


@dataclass(frozen=True)
class Outcome:
    """Result: the wheels as they were read, and the findings."""

    distributions: DistributionSet
    judged: Judged


@dataclass(frozen=True)
class _Task:
    """Members of one wheel that one process reads."""

    wheel: int
    path: Path
    members: tuple[ZipMember, ...]

    @property
    def size(self) -> int:
        """Bytes to be inflated."""
        return sum(member.size for member in self.members)


def verify(paths: Sequence[Path], request: Request) -> Outcome:
    """Verify wheels, and directories of distributions. Raises ToolError for a path that is neither."""
    if request.last_release:
        request = replace(request, collectors=(*request.collectors, release_checks.COLLECTOR))
    distributions = read_distributions([*paths, *request.others], request)
    others = {path.name for path in find_distributions(request.others)[0]}
    findings = [softened(finding, others) for finding in check(distributions, request)]
    if request.last_release:
        findings += release_checks.check(read_distributions(request.last_release, request), distributions)
    return Outcome(distributions, judge(findings, request.exceptions))


def check(distributions: DistributionSet, request: Request) -> Iterator[Finding]:
    """Yield what all checks find in distributions that were read.

    Raises ToolError for an unknown target, and if only a target could say what is installed together.
    """
    for check_wheel in registry.WHEEL_CHECKS:
        for wheel in distributions.wheels:
            yield from check_wheel(wheel, request.settings)
    if request.wheel_set:
        # What is found for several targets is one finding.
        found = (finding for chosen in _installed(distributions, request) for finding in _check_set(chosen))
        yield from dict.fromkeys(found)


def _installed(distributions: DistributionSet, request: Request) -> Iterator[Chosen]:
    """Yield what is installed together: for each chosen target, else all."""
    if not request.targets:
        check_unambiguous(distributions)
        yield Chosen(distributions, request.settings)
    for target in request.targets:
        yield choose(distributions, target, request.settings)


def _check_set(chosen: Chosen) -> Iterator[Finding]:
    yield from chosen.findings
    yield from set_checks.check_set(chosen.distributions, chosen.settings)


def find_distributions(paths: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """Return the wheels and the sdists that are named or lie, at any depth, in directories; each sorted by name."""
    wheels, sdists = set(), set()
    for path in paths:
        found = [path]
        if path.is_dir():
            found = [one for one in path.rglob("*") if one.is_file()]
            if not any(one.name.endswith((".whl", ".tar.gz")) for one in found):
                raise CannotRunError(f"{path}: holds no distributions; expected *.whl and *.tar.gz")
        elif not path.is_file():
            raise CannotRunError(f"{path}: no such file or directory")
        elif not path.name.endswith((".whl", ".tar.gz")):
            raise CannotRunError(f"{path}: expected a wheel (.whl), an sdist (.tar.gz) or a directory of them")
        wheels |= {one for one in found if one.suffix == ".whl"}
        sdists |= {one for one in found if one.name.endswith(".tar.gz")}
    by_name = sorted(wheels, key=lambda path: (path.name, path))
    return by_name, sorted(sdists, key=lambda path: (path.name, path))


def read_distributions(paths: Iterable[Path], request: Request) -> DistributionSet:
    """Read the facts about distributions. Raises ToolError when a file cannot be read."""
    wheels, sdists = find_distributions(paths)
    try:
        opened = [open_wheel(path) for path in wheels]
        collectors = (*registry.COLLECTORS, *request.collectors)
        reader = Reader(collectors, build_path=build_path(request.settings))
        facts = _read(opened, reader, request.processes)
    except OSError as error:
        raise CannotRunError(f"{error.filename or 'a wheel'}: cannot be read: {error.strerror or error}") from None
    return DistributionSet(
        tuple(make_wheel(one, found) for one, found in zip(opened, facts, strict=True)), tuple(sdists)
    )


def _tasks(opened: Sequence[OpenedWheel]) -> list[_Task]:
    """Share out the members: neighbours together, a large one alone; the largest task first."""
    tasks = []
    for index, wheel in enumerate(opened):
        batch: list[ZipMember] = []
        size = 0
        for member in wheel.to_read:
            if batch and size + member.size > BATCH:
                tasks.append(_Task(index, wheel.path, tuple(batch)))
                batch, size = [], 0
            batch.append(member)
            size += member.size
        if batch:
            tasks.append(_Task(index, wheel.path, tuple(batch)))
    return sorted(tasks, key=lambda task: task.size, reverse=True)


def _work(task: _Task, reader: Reader) -> list[FileFacts]:
    return list(read_members(task.path, task.members, reader))


def _read(opened: Sequence[OpenedWheel], reader: Reader, processes: int) -> list[list[FileFacts]]:
    """Return the facts about the members of each wheel."""
    tasks = _tasks(opened)
    facts: list[list[FileFacts]] = [[] for _ in opened]
    processes = min(usable_cores(processes), len(tasks))
    if processes < 2 or sum(task.size for task in tasks) < ALONE:
        for task in tasks:
            facts[task.wheel] += _work(task, reader)
        return facts
    # fork: collectors are functions of modules that are imported already, and nothing runs in threads yet.
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(processes, context, initializer=end_with_parent, initargs=(os.getpid(),)) as pool:
        futures = [(task.wheel, pool.submit(_work, task, reader)) for task in tasks]
        for wheel, future in futures:
            facts[wheel] += future.result()
    return facts
