"""What a flow costs, as the kernel accounts for it: the same measures for Bazel's server and for a flow of processes.

    with Meter(pid) as meter:
        ...
    meter.cost

The kernel adds what a process used to its parent once that has waited for it, so the difference of a parent's sums
between two moments is what all its children used that ended between them. What still runs, such as Bazel's persistent
workers, is asked itself. Bytes written are those that the kernel has to bring to a disk: what goes into a pipe or to a
file system in memory does not count, nor does a link.
"""

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

TICKS = os.sysconf("SC_CLK_TCK")
#: Seconds between two looks at the memory of all processes. Each look costs about 3 ms.
SAMPLING = 0.1


@dataclass(frozen=True)
class Cost:
    """What one run of a flow cost."""

    #: By the wall clock.
    seconds: float
    #: User and system time of the processes that it started (of Bazel: the actions), in seconds.
    cpu: float
    #: Written to disk by all of them, in bytes.
    written: int
    #: Size in bytes of the distributions that it made.
    produced: int = 0
    #: Peak resident memory, in bytes, of the largest process.
    peak: int = 0


def _numbers(pid: int) -> tuple[float, float, int]:
    """Read the CPU time of a process and of its children in seconds, and the bytes that all of them wrote."""
    # proc_pid_stat(5); the name of the program may hold spaces and ends with the last parenthesis.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    utime, stime, cutime, cstime = (int(value) for value in fields[11:15])
    io = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
    return (utime + stime) / TICKS, (cutime + cstime) / TICKS, int(io["write_bytes"])


def parents() -> dict[int, int]:
    """Map each process to its parent."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue  # it ended
    return found


def descendants(pid: int, parent_of: dict[int, int]) -> list[int]:
    """List the processes below a process."""
    found, below = [], {pid}
    while below:
        below = {child for child, parent in parent_of.items() if parent in below}
        found += sorted(below)
    return found


@dataclass(frozen=True)
class _Sums:
    """What all processes below one have used until now."""

    #: CPU time in seconds.
    cpu: float
    written: int

    @classmethod
    def of(cls, pid: int) -> "_Sums":
        _, cpu, written = _numbers(pid)
        for living in descendants(pid, parents()):
            try:
                times = _numbers(living)
            except OSError:
                continue  # it ended
            cpu += times[0] + times[1]
            written += times[2]
        return cls(cpu, written)


class MemoryWatch(threading.Thread):
    """Looks at the peak memory (VmHWM) of all processes below one, again and again.

    As a peak never falls, only what a process takes in the last tenth of a second of its life can be missed.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._command = Path(f"/proc/{pid}/cmdline").read_bytes()
        self._over = threading.Event()
        self.peak = 0

    def run(self) -> None:
        """Look until told to stop."""
        while not self._over.wait(SAMPLING):
            for child in descendants(self._pid, parents()):
                self._look(Path(f"/proc/{child}"))

    def _look(self, process: Path) -> None:
        try:
            status = (process / "status").read_text()
            command = (process / "cmdline").read_bytes()
        except OSError:
            return  # it ended
        peak = next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:")), 0)
        # A child that has not yet become its program shares its parent's memory: it is no process of its own.
        if command and command != self._command:
            self.peak = max(peak, self.peak)

    def stop(self) -> None:
        """Look no more."""
        self._over.set()
        self.join()


class Meter:
    """Measures what happens below a process while the block runs."""

    cost: Cost

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._watch = MemoryWatch(pid)

    def __enter__(self) -> "Meter":
        os.sync()  # what was written before is nobody's cost
        self._before = _Sums.of(self._pid)
        self._watch.start()
        self._started = time.monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        seconds = time.monotonic() - self._started
        self._watch.stop()
        after = _Sums.of(self._pid)
        cpu, written = after.cpu - self._before.cpu, after.written - self._before.written
        self.cost = Cost(seconds, cpu, written, peak=self._watch.peak)
