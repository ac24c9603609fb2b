"""S101 to S178: what lies between the distributions of a set, as they are installed together in one site-packages.

    SUITE = wheel_set.checks.SUITES

Of several distributions of one name one is installed. What each package is sure to have beside it is what it requires;
see `wheels.verify.wheel_set.closure`.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from wheels.verify.finding import Finding
from wheels.verify.model import DistributionSet
from wheels.verify.settings import Settings
from wheels.verify.suite import Suite
from wheels.verify.wheel_set import (
    devel,
    importing,
    launchers,
    licences,
    linker_scripts,
    linking,
    owners,
    requirements,
    selector,
)
from wheels.verify.wheel_set.closure import by_name, meant_for
from wheels.verify.wheel_set.gather import COLLECTORS, by_platform, gather
from wheels.verify.wheel_set.installation import install
from wheels.verify.wheel_set.model import Package

RULES: Final = (
    *linking.RULES,
    *owners.RULES,
    *launchers.RULES,
    *requirements.RULES,
    *selector.RULES,
    *devel.RULES,
    *linker_scripts.RULES,
    *licences.RULES,
    *importing.RULES,
)


def check_set(distributions: DistributionSet, settings: Settings) -> Iterator[Finding]:
    """Look at all distributions together."""
    packages, faults = gather(distributions)
    for filename, path, why in faults.found:
        yield selector.UNREADABLE.finding(filename, path, why)
    # What is for any platform is looked at with each: what is found twice is one finding.
    found = (finding for together in by_platform(packages) for finding in _check_together(together, settings))
    yield from dict.fromkeys(found)


def _check_together(packages: Sequence[Package], settings: Settings) -> Iterator[Finding]:
    names = by_name(packages)
    selectors = [package.selector for package in packages if package.selector]
    trees = devel.target_trees(selectors, packages)
    yield from linking.check_linking(packages, names, trees, settings)
    yield from linking.check_oldest(packages)
    yield from owners.check_owners(packages)
    yield from owners.check_libraries(packages)
    if any(package.is_windows for package in packages):
        yield from owners.check_dlls(packages)
        yield from importing.check_importing(packages, names, trees, settings)
    yield from launchers.check_launchers(packages, names)
    yield from linker_scripts.check_linker_scripts(packages)
    meant = meant_for(packages)
    yield from requirements.check_requirements(meant, names, settings)
    yield from selector.check_selection(meant, names, settings)
    yield from linking.check_opening(packages, settings)
    whole = install(packages, trees)
    for package in packages:
        yield from devel.check_devel(package, selectors[0] if selectors else None, whole)


SUITES: Final = (
    Suite(
        rules=RULES,
        check_wheel=licences.check_licences,
        check_set=check_set,
        collectors=(*COLLECTORS, *launchers.COLLECTORS, *linker_scripts.COLLECTORS),
    ),
)
