"""S101 to S163: what lies between the distributions of a set, as they are installed together in one site-packages.

    SUITE = wheel_set.checks.SUITES

Of several distributions of one name one is installed. What each package is sure to have beside it is what it requires;
see `verify.wheel_set.closure`.
"""

from collections.abc import Iterator
from typing import Final

from verify.finding import Finding
from verify.model import DistributionSet
from verify.settings import Settings
from verify.suite import Suite
from verify.wheel_set import (
    devel,
    launchers,
    licences,
    linker_scripts,
    linking,
    owners,
    requirements,
    selector,
)
from verify.wheel_set.closure import by_name
from verify.wheel_set.gather import COLLECTORS, gather
from verify.wheel_set.installation import install

RULES: Final = (
    *linking.RULES,
    *owners.RULES,
    *launchers.RULES,
    *requirements.RULES,
    *selector.RULES,
    *devel.RULES,
    *linker_scripts.RULES,
    *licences.RULES,
)


def check_set(distributions: DistributionSet, settings: Settings) -> Iterator[Finding]:
    """Look at all distributions together."""
    packages, faults = gather(distributions)
    names = by_name(packages)
    selectors = [package.selector for package in packages if package.selector]
    trees = devel.target_trees(selectors, packages)
    for filename, path, why in faults.found:
        yield selector.UNREADABLE.finding(filename, path, why)
    yield from linking.check_linking(packages, names, trees, settings)
    yield from linking.check_oldest(packages)
    yield from owners.check_owners(packages)
    yield from launchers.check_launchers(packages, names)
    yield from linker_scripts.check_linker_scripts(packages)
    yield from requirements.check_requirements(packages, names, settings)
    yield from selector.check_selection(packages, names, settings)
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
