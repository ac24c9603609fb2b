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
from collections.abc import Iterable
from dataclasses import dataclass, field
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
    #: User and system time of the process that started them, in seconds.
    own_cpu: float
    #: Written to disk by all of them, in bytes.
    written: int
    #: Size in bytes of the distributions that it made.
    produced: int = 0
    #: Peak resident memory in bytes of the largest process of each kind.
    memory: dict[str, int] = field(default_factory=dict)
    #: Of the processes that stay, such as Bazel's workers, what each kind and its children used of `cpu`, in seconds.
    programs: dict[str, float] = field(default_factory=dict)

    @property
    def peak(self) -> int:
        """Peak resident memory, in bytes, of the largest process."""
        return max(self.memory.values(), default=0)


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


def kind(command: Iterable[str]) -> str:
    """Say what a process is for: the tool that it runs, else its program."""
    names = [Path(argument).name for argument in command]
    return next(
        (name.removesuffix("_tool.pyz") for name in names if name.endswith("_tool.pyz")), names[0] if names else ""
    )


@dataclass(frozen=True)
class _Sums:
    """What a process and all below it have used until now."""

    #: CPU time of the process, of those below it that have ended, and of those that have not, by kind; in seconds.
    own: float
    ended: float
    programs: dict[str, float]
    written: int

    @classmethod
    def of(cls, pid: int) -> "_Sums":
        own, ended, written = _numbers(pid)
        programs: dict[str, float] = {}
        for living in descendants(pid, parents()):
            try:
                times = _numbers(living)
                command = Path(f"/proc/{living}/cmdline").read_bytes()
            except OSError:
                continue  # it ended
            name = kind(os.fsdecode(part) for part in command.split(b"\0") if part)
            programs[name] = programs.get(name, 0.0) + times[0] + times[1]
            written += times[2]
        return cls(own, ended, programs, written)

    def since(self, before: "_Sums") -> tuple[float, float, dict[str, float], int]:
        """Return CPU time below the process, its own, the time of each kind that stays, and the bytes written."""
        programs = {name: used - before.programs.get(name, 0.0) for name, used in sorted(self.programs.items())}
        below = self.ended - before.ended + sum(self.programs.values()) - sum(before.programs.values())
        return below, self.own - before.own, programs, self.written - before.written


class MemoryWatch(threading.Thread):
    """Looks at the peak memory (VmHWM) of all processes below one, again and again.

    As a peak never falls, only what a process takes in the last tenth of a second of its life can be missed.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._command = Path(f"/proc/{pid}/cmdline").read_bytes()
        self._over = threading.Event()
        self.memory: dict[str, int] = {}

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
        if peak and command and command != self._command:
            name = kind(os.fsdecode(argument) for argument in command.split(b"\0") if argument)
            self.memory[name] = max(peak, self.memory.get(name, 0))

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
        cpu, own, programs, written = _Sums.of(self._pid).since(self._before)
        self.cost = Cost(seconds, cpu, own, written, memory=dict(sorted(self._watch.memory.items())), programs=programs)
