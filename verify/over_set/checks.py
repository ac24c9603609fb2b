"""S101 to S163: what lies between the distributions of a set, as they are installed together in one site-packages.

    SUITE = over_set.checks.SUITES

Of several distributions of one name one is installed. What each package is sure to have beside it is what it requires;
see `verify.over_set.closure`.
"""

from collections.abc import Iterator
from typing import Final

from verify.finding import Finding
from verify.model import DistributionSet
from verify.over_set import (
    devel,
    launchers,
    licences,
    linking,
    oldest,
    opening,
    owners,
    requirements,
    selection,
)
from verify.over_set.closure import by_name
from verify.over_set.collect import COLLECTORS
from verify.over_set.gather import gather
from verify.over_set.installation import install
from verify.settings import Settings
from verify.suite import Suite

RULES: Final = (
    *linking.RULES,
    *oldest.RULES,
    *owners.RULES,
    *launchers.RULES,
    *requirements.RULES,
    *selection.RULES,
    *opening.RULES,
    *devel.RULES,
    *licences.RULES,
)


def check_set(distributions: DistributionSet, settings: Settings) -> Iterator[Finding]:
    """Look at all distributions together."""
    packages, faults = gather(distributions)
    names = by_name(packages)
    selectors = [package.selector for package in packages if package.selector]
    trees = devel.target_trees(selectors, packages)
    for filename, path, why in faults.found:
        yield selection.UNREADABLE.finding(filename, path, why)
    yield from linking.check_linking(packages, names, trees, settings)
    yield from oldest.check_oldest(packages)
    yield from owners.check_owners(packages)
    yield from launchers.check_launchers(packages, names)
    yield from requirements.check_requirements(packages, names, settings)
    yield from selection.check_selection(packages, names, settings)
    yield from opening.check_opening(packages, settings)
    whole = install(packages, trees)
    for package in packages:
        yield from devel.check_devel(package, selectors[0] if selectors else None, whole)


SUITES: Final = (
    Suite(
        rules=RULES,
        check_wheel=licences.check_licences,
        check_set=check_set,
        collectors=(*COLLECTORS, *launchers.COLLECTORS),
    ),
)
