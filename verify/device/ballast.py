"""Device code that no GPU can load which its package is for: everybody downloads it, and nobody runs it."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from tools.lib.device.target_id import TargetId
from verify.device.offers import device_files
from verify.device.owned import Owned
from verify.device.rules import OTHER_CODE, OTHER_FAMILY
from verify.finding import Finding
from verify.over_set.model import Package


def check_ballast(package: Package, owned: Owned) -> Iterator[Finding]:
    """Check the libraries and archives of a package that is for one target or family.

    Files with code for the same other targets are one finding. Libraries for a family are mostly built for more
    targets than are in the family's name: that is worth one note for the package.
    """
    found: dict[tuple[TargetId, ...], list[str]] = defaultdict(list)
    sizes: Counter[TargetId] = Counter()
    for path, facts in device_files(package).items():
        useless = {code: size for code, size in facts.sizes.items() if not owned.can_use(code)}
        if useless:
            found[tuple(sorted(useless)) if owned.is_exact else ()].append(path)
            sizes.update(useless)
    for targets, paths in sorted(found.items()):
        if owned.is_exact:
            total = sum(device_files(package)[path].sizes.get(target, 0) for path in paths for target in targets)
            evidence = f"{total} bytes of code that {owned.target} cannot load{_more(paths)}"
            yield OTHER_CODE.finding(package.filename, paths[0], evidence, map(str, targets))
        else:
            evidence = (
                f"{len(paths)} files with {sum(sizes.values())} bytes of code that no GPU of {owned.target} can load"
            )
            yield OTHER_FAMILY.finding(package.filename, "", evidence, map(str, sorted(sizes)))


def _more(paths: list[str]) -> str:
    return f", in {len(paths)} files" if len(paths) > 1 else ""
