"""Circles of things that need each other.

list(circles({"a": ["b"], "b": ["a"]}))   # [["a", "b"]]
"""

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter


def circles(graph: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Yield circles, each as a list in which every one needs the next, and the last the first.

    `graph` has, for each, what it needs. A circle that was yielded is broken at its first step, and the next one looked
    for, until none is left: of circles that share that step, one is yielded.
    """
    left = {node: list(needs) for node, needs in graph.items()}
    while True:
        try:
            TopologicalSorter(left).prepare()
            return
        except CycleError as error:
            # Each is needed by the next; the first stands at the end again.
            found: list[str] = error.args[1][::-1]
            left[found[0]].remove(found[1])
            yield found[:-1]
