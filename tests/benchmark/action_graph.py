"""The actions of a build as a graph: what each takes, what it waits for and which bytes it moves.

`graph(spawns)` makes it of an execution log, `copies` makes a bigger one of it, `critical_path` and `schedule` say how
long it takes on machines that are not there: a model, which `tests.benchmark.scaling` holds against what was measured.
"""

import heapq
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from tests.remote.spawns import Spawn

#: Threads that an action has, if more than one: pack for a big file (rules/private/common/units.bzl), link for a wheel.
THREADS = {"RocmPack": 8, "RocmLink": 2}


@dataclass(frozen=True)
class Action:
    """One command of a build."""

    mnemonic: str
    #: Seconds that the command takes by itself.
    seconds: float
    #: Each input's path -> its size in bytes.
    inputs: dict[str, int]
    #: Each output's path -> its size in bytes.
    outputs: dict[str, int]
    #: Numbers, in the graph, of the actions whose outputs it reads.
    after: tuple[int, ...]


@dataclass(frozen=True)
class Service:
    """Machines that execute actions, and the way there."""

    workers: int
    #: Bytes a second from the store to a worker, and back; of each worker, at the same time.
    bandwidth: float
    #: Seconds that each action takes beyond its command: queue, staging, results.
    overhead: float


def graph(spawns: Sequence[Spawn]) -> list[Action]:
    """Return the actions of an execution log, each behind those that it waits for."""
    made_by = {path: number for number, spawn in enumerate(spawns) for path in spawn.outputs}
    needs = [sorted({made_by[path] for path in spawn.inputs if path in made_by}) for spawn in spawns]
    order: list[int] = []
    placed: dict[int, int] = {}
    waiting = set(range(len(spawns)))
    while waiting:
        ready = sorted(number for number in waiting if all(need in placed for need in needs[number]))
        assert ready, "an execution log with a cycle"
        for number in ready:
            placed[number] = len(order)
            order.append(number)
        waiting -= set(ready)
    return [
        Action(
            mnemonic=spawns[number].mnemonic,
            seconds=spawns[number].seconds,
            inputs=spawns[number].inputs,
            outputs={path: size for path, (_, size) in spawns[number].outputs.items()},
            after=tuple(placed[need] for need in needs[number]),
        )
        for number in order
    ]


def documents(actions: Sequence[Action]) -> list[dict[str, Any]]:
    """Return the actions as JSON data."""
    return [asdict(action) for action in actions]


def from_documents(data: Sequence[dict[str, Any]]) -> list[Action]:
    """Return the actions of `documents`."""
    return [Action(**{**action, "after": tuple(action["after"])}) for action in data]


def copies(actions: Sequence[Action], factor: int) -> list[Action]:
    """Return that many graphs beside each other, with the same tools: as many more artifacts and packages."""
    tools = common_inputs(actions)

    def named(path: str, copy: int) -> str:
        return path if path in tools else f"{copy}/{path}"

    return [
        Action(
            action.mnemonic,
            action.seconds,
            {named(path, copy): size for path, size in action.inputs.items()},
            {named(path, copy): size for path, size in action.outputs.items()},
            tuple(copy * len(actions) + need for need in action.after),
        )
        for copy in range(factor)
        for action in actions
    ]


def common_inputs(actions: Sequence[Action]) -> set[str]:
    """Return the inputs that are no artifact's: what several kinds of actions read and no action makes."""
    kinds: dict[str, set[str]] = {}
    for action in actions:
        for path in action.inputs:
            kinds.setdefault(path, set()).add(action.mnemonic)
    made = {path for action in actions for path in action.outputs}
    return {path for path, mnemonics in kinds.items() if path not in made and len(mnemonics) > 2}


def on_cores(on_one: Sequence[Action], on_two: Sequence[Action], cores: int) -> list[Action]:
    """Return the actions as they are on a machine with so many cores, if each has that machine for itself.

    What an action saves on two cores is half of what its threads share (Amdahl's law). Both sequences are of one build.
    """
    actions = []
    for one, two in zip(on_one, on_two, strict=True):
        shared = min(max(2 * (one.seconds - two.seconds), 0.0), one.seconds)
        threads = min(cores, THREADS.get(one.mnemonic, 1))
        actions.append(replace(one, seconds=one.seconds - shared + shared / threads))
    return actions


def critical_path(actions: Sequence[Action], overhead: float = 0.0) -> float:
    """Return the seconds of the longest chain of actions that wait for each other."""
    ends: list[float] = []
    for action in actions:
        ends.append(max((ends[need] for need in action.after), default=0.0) + action.seconds + overhead)
    return max(ends, default=0.0)


def schedule(actions: Sequence[Action], service: Service) -> tuple[float, int]:
    """Return how many seconds the service takes, and how many bytes workers fetch and give back.

    Each worker executes one action at a time and fetches each file once. The action that has waited longest goes to
    the worker that is free first: a service knows nothing of what comes after it.
    """
    open_needs = [len(action.after) for action in actions]
    followers: list[list[int]] = [[] for _ in actions]
    for number, action in enumerate(actions):
        for need in action.after:
            followers[need].append(number)
    ready = [(0.0, number) for number, count in enumerate(open_needs) if not count]
    free = [(0.0, worker) for worker in range(service.workers)]
    there: list[set[str]] = [set() for _ in free]
    running: list[tuple[float, int]] = []
    now, moved = 0.0, 0
    while ready or running:
        while ready and free[0][0] <= now:
            _, number = heapq.heappop(ready)
            _, worker = heapq.heappop(free)
            action = actions[number]
            fetched = sum(size for path, size in action.inputs.items() if path not in there[worker])
            there[worker].update(action.inputs, action.outputs)
            bulk = fetched + sum(action.outputs.values())
            moved += bulk
            end = now + service.overhead + action.seconds + bulk / service.bandwidth
            heapq.heappush(free, (end, worker))
            heapq.heappush(running, (end, number))
        now, number = heapq.heappop(running)
        for follower in followers[number]:
            open_needs[follower] -= 1
            if not open_needs[follower]:
                heapq.heappush(ready, (now, follower))
    return now, moved
