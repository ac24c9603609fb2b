"""Checks a clean clone: README's commands, then all longer checks.

    bash .ci/run                     the checks of every change
    bash .ci/run --scheduled         the others, for once a week and releases
    bash .ci/run elf thin            `elf`, and all checks that begin with thin
    bash .ci/run --list              what there is

Prints a line for each check, and the whole output of a check that fails. The
last line says how many passed, failed and were skipped; the exit code is 1 if
any failed. A check that needs what the machine lacks is skipped; with CI=true
it fails. Optional inputs come from the environment. Without them their checks
are skipped, also with CI=true:

    ROCM_KPACK_ARTIFACTS   artifacts of ROCm 7 that ROCm/rocm-kpack split
    ROCM_MODULE_SOURCES    Bazel modules, a folder NAME/VERSION for each
    ROCM_THEROCK           a checkout of TheRock, to compare with AMD's packages
    ROCM_AMD_PYTHON        Python for its script: tests/e2e/amd/comparison.py
"""

import argparse
import difflib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from develop.ci.check import Check
from develop.ci.checks import CHECKS, SCHEDULED
from develop.ci.machine import FailedError, Inventory, Machine
from develop.ci.results import Count
from develop.ci.side_by_side import Schedule

#: How many checks run at a time. Most keep about one core busy, and two cores are the least that machines have.
WORKERS = 2


def select(checks: Sequence[Check], names: Sequence[str], *, is_scheduled: bool = False) -> list[Check]:
    """Return the checks that names mean, in the order of the table.

    A name means the check that is called so, else all whose names begin with it. Raises ValueError if none does.
    If nothing is named, these are the checks of every change, or the scheduled ones.
    """
    if not names:
        return [one for one in checks if (one.name in SCHEDULED) == is_scheduled]
    wanted: set[str] = set()
    for name in names:
        found = {one.name for one in checks if one.name == name} or {
            one.name for one in checks if one.name.startswith(name)
        }
        if not found:
            near = difflib.get_close_matches(name, [one.name for one in checks], 3)
            hint = f"did you mean {' or '.join(near)}?" if near else ".ci/run --list shows all"
            raise ValueError(f"{name}: there is no such check; {hint}")
        wanted |= found
    return [one for one in checks if one.name in wanted]


def free_space(*directories: Path) -> str:
    """Say how much room the file systems of some directories have: a full one explains much that fails."""
    there = [one for one in directories if one.is_dir()]  # Some users have no home.
    return ", ".join(f"{one}: {shutil.disk_usage(one).free / 1e9:.1f} GB free" for one in there)


def perform(check: Check, scratch: Path, made: Inventory) -> Count:
    """Run a check; print how it went, and all that it printed if it failed."""
    start = time.monotonic()
    with tempfile.TemporaryFile("a+b", buffering=0) as log:
        machine = Machine(scratch, log, made)
        try:
            count = check.run(machine) or Count(passed=1)
        except Exception as error:  # A check that breaks must not take the others with it.
            machine.say(str(error) if isinstance(error, FailedError) else traceback.format_exc())
            machine.say(free_space(scratch, Path.home()))
            count = Count(failed=1)
        log.seek(0)
        said = log.read().decode(errors="replace") if count.failed else ""
    took = f"({time.monotonic() - start:.0f} s)"
    print(
        f"{said}{'FAILED' if count.failed else 'passed'}: {check.name}: {check.sentence} {took}\n", end="", flush=True
    )
    return count


def skip(check: Check, is_ci: bool) -> Count | None:
    """Print why a check cannot run here, and count it; None if it can."""
    for need in check.needs:
        try:
            reason, fails = need.missing(), is_ci and not need.is_optional
        except FailedError as error:
            reason, fails = str(error), True
        if reason:
            print(f"{'FAILED' if fails else 'SKIPPED'}: {check.name}: {check.sentence}: {reason}", flush=True)
            return Count(failed=1) if fails else Count(skipped=1)
    return None


def perform_all(checks: Sequence[Check], scratch: Path, is_ci: bool) -> Count:
    """Run checks, or say why not; print the closing line."""
    schedule, made = Schedule(checks), Inventory()

    def work() -> Count:
        total = Count()
        while check := schedule.take():
            try:
                total += skip(check, is_ci) or perform(check, scratch, made)
            finally:
                schedule.give_back(check)
        return total

    with ThreadPoolExecutor(WORKERS) as pool:
        counts = [done.result() for done in [pool.submit(work) for _ in range(WORKERS)]]
    total = sum(counts, Count())
    print(total, flush=True)
    return total


@contextmanager
def scratch_directory(given: Path | None) -> Iterator[Path]:
    """Yield a directory for what checks make: the given one, which stays, or another, which is removed at the end."""
    if given:
        given.mkdir(parents=True, exist_ok=True)
        yield given.resolve()
        return
    directory = Path(tempfile.mkdtemp(prefix="rocm-ci."))
    try:
        yield directory
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", directory], check=False)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        prog=".ci/run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a check, or the beginning of the names of several")
    parser.add_argument("--scheduled", action="store_true", help="run the checks that not every change needs")
    parser.add_argument("--list", action="store_true", help="list the checks, or those that are named, and run none")
    parser.add_argument(
        "--scratch", type=Path, metavar="DIR", help="keep what checks fetch (ROCm, roots) here, for the next run"
    )
    arguments = parser.parse_args(argv)
    try:
        arguments.checks = select(CHECKS, arguments.names, is_scheduled=arguments.scheduled)
    except ValueError as error:
        parser.error(str(error))
    return arguments


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit code."""
    arguments = parse(argv)
    if arguments.list:
        listed = arguments.checks if arguments.names or arguments.scheduled else CHECKS
        width = max(len(check.name) for check in listed)
        for check in listed:
            print(f"{check.name:{width}}  {check.sentence}{' (scheduled)' if check.name in SCHEDULED else ''}")
        return 0
    with scratch_directory(arguments.scratch) as scratch:
        total = perform_all(arguments.checks, scratch, os.environ.get("CI") == "true")
    return 1 if total.failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
