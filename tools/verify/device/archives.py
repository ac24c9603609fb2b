"""Checks of libraries whose device code was split off: for each offered target its archive has to be there."""

import posixpath
import re
from collections.abc import Iterator, Sequence

from tools.device.kpack import PLACEHOLDER
from tools.device.target_id import TargetId
from tools.verify.device.coverage import gaps, serves, wanted_targets
from tools.verify.device.offers import Offer, device_files
from tools.verify.device.rules import NO_ARCHIVE, report
from tools.verify.finding import Finding
from tools.verify.over_set.model import Package


def check_archives(
    packages: Sequence[Package], offers: Sequence[Offer], known: frozenset[TargetId]
) -> Iterator[Finding]:
    """Check the libraries whose device code was split off: for each offered target its archive, with all bundles."""
    for package in packages:
        for path, facts in device_files(package).items():
            if facts.reference is None:
                continue
            numbers = {name for one in packages for it in device_files(one).values() for name in it.archive}
            wanted_names = sorted(name for name in numbers if name.rpartition("#")[0] == facts.reference.name)
            for offer in (one for one in offers if package in one.packages):
                yield from _check_archive(package, path, facts.reference.paths, wanted_names, offer, known)


def _check_archive(
    package: Package,
    path: str,
    searched: Sequence[str],
    names: Sequence[str],
    offer: Offer,
    known: frozenset[TargetId],
) -> Iterator[Finding]:
    places = [posixpath.normpath(posixpath.join(posixpath.dirname(path), one)) for one in searched]
    patterns = [re.compile(re.escape(place).replace(re.escape(PLACEHOLDER), "[^/]+")) for place in places]
    found = [
        facts.archive
        for one in offer.packages
        for place, facts in device_files(one).items()
        if any(pattern.fullmatch(place) for pattern in patterns)
    ]
    wanted = wanted_targets([offer.target], known)
    codes = [frozenset().union(*(archive.get(name, frozenset()) for archive in found)) for name in names]
    if not any(serves(code, target) for code in codes for target in wanted):
        evidence = f"for {offer.target}; looked for {', '.join(places)}"
        yield NO_ARCHIVE.finding(package.filename, path, evidence)
        return
    for gap in gaps(codes, wanted):
        yield report(package.filename, path, gap, codes)
