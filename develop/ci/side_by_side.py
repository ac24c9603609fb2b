"""In which order the checks of .ci/run begin, and which of them run side by side.

Most checks wait for one core, for a server or for the network half of the time. So two run at a time, but never two
that use the same thing.
"""

from collections.abc import Sequence
from threading import Condition

from develop.ci.check import ALL, Check


class Schedule:
    """Hands out checks, each when nothing that runs holds what it needs. Threads may share it."""

    def __init__(self, checks: Sequence[Check]) -> None:
        self._waiting = list(checks)
        self._held: list[str] = []
        self._changed = Condition()

    def take(self) -> Check | None:
        """Return the next check, as soon as one may begin; None if all have begun."""
        with self._changed:
            while self._waiting:
                if check := self._next():
                    self._waiting.remove(check)
                    self._held.append(check.holds)
                    return check
                self._changed.wait()
        return None

    def give_back(self, check: Check) -> None:
        """Say that a check has ended."""
        with self._changed:
            self._held.remove(check.holds)
            self._changed.notify_all()

    def _next(self) -> Check | None:
        """Return the first check that may begin. A check that needs the whole machine holds back all that follow."""
        if ALL in self._held:
            return None
        for check in self._waiting:
            if check.holds == ALL:
                return None if self._held else check
            if not check.holds or check.holds not in self._held:
                return check
        return None
