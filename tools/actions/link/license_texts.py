"""Which files of a package are licence texts.

Licence texts of artifacts stay in the tree, where ROCm's own tools and people look for them. PEP 639 wants them beside
the metadata, too: there installers and licence scanners find them, also those inside the archive of a devel package.
"""

from lib.plan.model import Plan, matches

#: What no License-File may hold (PEP 639: no glob, no parent, `/` alone divides); such a text is in the tree alone.
_REFUSED = ("*", "..", "\\")


def license_paths(plan: Plan, patterns: tuple[str, ...]) -> list[str]:
    """Return the paths of a package's licence texts in its tree, sorted: packed files that match one of `patterns`."""
    paths = (entry.path for entry in plan.entries if entry.is_packed_file)
    return sorted(path for path in paths if matches(path, patterns) and not any(part in path for part in _REFUSED))
