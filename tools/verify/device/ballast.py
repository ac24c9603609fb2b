"""Device code that no GPU can load which its package is for: everybody downloads it, and nobody runs it."""

from collections import Counter
from collections.abc import Iterator

from tools.device.target_id import TargetId
from tools.verify.device.offers import device_files
from tools.verify.device.owned import Owned
from tools.verify.device.rules import OTHER_CODE, OTHER_FAMILY, listed
from tools.verify.finding import Finding
from tools.verify.over_set.model import Package


def check_ballast(package: Package, owned: Owned) -> Iterator[Finding]:
    """Check the libraries and archives of a package that is for one target or family.

    Libraries for a family are mostly built for more targets than are in the family's name. That is worth one note for
    the package.
    """
    whole: Counter[TargetId] = Counter()
    libraries = 0
    for path, facts in device_files(package).items():
        useless = {code: size for code, size in facts.sizes.items() if not owned.can_use(code)}
        if useless and owned.is_exact:
            yield OTHER_CODE.finding(package.filename, path, _said(useless, f"{owned.target} cannot load"))
        elif useless:
            libraries += 1
            whole.update(useless)
    if libraries:
        evidence = _said(whole, f"no GPU of {owned.target} can load")
        yield OTHER_FAMILY.finding(package.filename, "", f"{libraries} files with {evidence}")


def _said(useless: dict[TargetId, int], who: str) -> str:
    return f"{sum(useless.values())} bytes of code that {who}: {listed(useless)}"
