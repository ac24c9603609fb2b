"""`rocm-sdk test`: is this installation whole, and does it work? Needs no GPU.

`run_checks` runs what `checks` lists, several at a time, and `report` puts the results into words or JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

from .checks import Check, FailureError, SkipError, list_checks
from .errors import RocmSdkError

OUTCOMES = ("passed", "failed", "skipped")


@dataclass(frozen=True)
class Result:
    """The outcome of one check: `passed`, `failed` or `skipped`, and why."""

    name: str
    outcome: str
    detail: str = ""


def run_checks(pattern: str = "") -> list[Result]:
    """Run the checks whose name contains `pattern` and return their results, in a fixed order."""
    checks = [check for check in list_checks() if pattern in check.name]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(run_check, checks))


def run_check(check: Check) -> Result:
    """Run one check; what goes wrong in it is its result."""
    try:
        return Result(check.name, "passed", check.run())
    except SkipError as reason:
        return Result(check.name, "skipped", str(reason))
    except (FailureError, RocmSdkError) as reason:
        return Result(check.name, "failed", str(reason))
    except (OSError, ValueError, ImportError, subprocess.SubprocessError) as error:
        return Result(check.name, "failed", f"{type(error).__name__}: {error}")


def report(results: list[Result], *, as_json: bool = False) -> str:
    """Return the results in words, one a line and a summary, or as a JSON object."""
    counts = {outcome: sum(result.outcome == outcome for result in results) for outcome in OUTCOMES}
    if as_json:
        return json.dumps({"summary": counts, "results": [asdict(result) for result in results]}, indent=2)
    lines = [f"{result.outcome:7} {result.name}" + (f": {result.detail}" * bool(result.detail)) for result in results]
    return "\n".join([*lines, ", ".join(f"{count} {outcome}" for outcome, count in counts.items())])
