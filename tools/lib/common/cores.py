"""How many cores there are to use."""

import os


def usable_cores(wanted: int) -> int:
    """Return how many threads to work with: those wanted, but no more than the cores that this process may run on.

    What a tool writes never depends on the number.
    """
    return max(1, min(wanted, len(os.sched_getaffinity(0))))
