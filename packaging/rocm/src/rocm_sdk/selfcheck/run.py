"""Chooses the checks for what is installed, runs several at a time, and reports the results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial

from ..distributions import load_distributions
from ..errors import RocmSdkError
from ..installation import installed_packages, own_package
from ..system import count_processors
from . import Check, FailureError, SkipError
from .binaries import check_library, check_preload, list_libraries
from .packages import check_devel, check_ownership, check_packages, check_record, check_target
from .scripts import check_import, check_script, list_python_packages, list_scripts

OUTCOMES = ("passed", "failed", "skipped")


@dataclass(frozen=True)
class Result:
    """The outcome of one check: `passed`, `failed` or `skipped`, and why."""

    name: str
    outcome: str
    detail: str = ""

    def describe(self) -> str:
        """Return it as a line."""
        return f"{self.outcome:7} {self.name}" + (f": {self.detail}" if self.detail else "")


def list_checks(quick: bool = False) -> Iterator[Check]:
    """Name every check that applies, in a fixed order; `quick` ones read no file as a whole."""
    known = load_distributions()
    packages = dict(sorted(installed_packages(known).items()))
    own = own_package(known)
    everything = {**packages, **({own.names.distribution: own} if own else {})}
    yield Check("devel", partial(check_devel, known, packages), first=True)
    yield Check("packages", partial(check_packages, known, packages))
    yield Check("target", partial(check_target, known, packages))
    yield Check("ownership", partial(check_ownership, known, everything))
    for name, package in everything.items():
        yield Check(f"record:{name}", partial(check_record, package, quick))
    # The device packages share a tree with the libraries; the development tree has links to the same files.
    trees = {package.tree: package.site for package in packages.values() if package.names != known.packages["devel"]}
    for tree, site in sorted(trees.items()):
        for path in list_libraries(tree):
            yield Check(f"library:{path.relative_to(site).as_posix()}", partial(check_library, path, known))
    yield Check("preload", partial(check_preload, known))
    for package in everything.values():
        for script, tool in list_scripts(package):
            yield Check(f"script:{script}", partial(check_script, package, script, tool))
    for package in packages.values():
        for name, directory in list_python_packages(package):
            yield Check(f"import:{name}", partial(check_import, package, name, directory))


def run_checks(pattern: str = "", quick: bool = False) -> Iterator[Result]:
    """Run the checks whose name contains `pattern`, one per core at a time; results are in the fixed order."""
    checks = [check for check in list_checks(quick) if pattern in check.name]
    yield from (run_check(check) for check in checks if check.first)
    checks = [check for check in checks if not check.first]
    with ThreadPoolExecutor(count_processors()) as pool:
        yield from pool.map(run_check, checks)


def run_check(check: Check) -> Result:
    """Run one check. An exception becomes its result, so that the other checks still run."""
    try:
        return Result(check.name, "passed", check.run())
    except SkipError as reason:
        return Result(check.name, "skipped", str(reason))
    except (FailureError, RocmSdkError) as reason:
        return Result(check.name, "failed", str(reason))
    except Exception as error:
        return Result(check.name, "failed", f"{type(error).__name__}: {error}")


def summarize(results: Iterable[Result]) -> dict[str, int]:
    """Return the number of results by outcome."""
    outcomes = [result.outcome for result in results]
    return {outcome: outcomes.count(outcome) for outcome in OUTCOMES}


def as_json(results: Iterable[Result]) -> str:
    """Return the results as a JSON object: `summary`, and `results` in their order."""
    listed = list(results)
    return json.dumps({"summary": summarize(listed), "results": [asdict(result) for result in listed]}, indent=2)
