"""Says which system the set needs, where its tags do not: a plain `linux_x86_64` promises nothing of the C library."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tools.actions.platform_tag.policy import promises
from tools.lib.common.program import ToolError
from verify.finding import Finding, Rule, Severity
from verify.over_set.model import Package

NEEDS_GLIBC = Rule(
    "S113",
    Severity.NOTE,
    "the lowest glibc that the set needs, which no tag says",
    why="Wheels tagged linux_x86_64 are installed on every Linux; on one with an older glibc the file does not load.",
    remedy="Tell users; or name it, as manylinux_2_N, by `--//packaging:platform_tag`.",
)
RULES: Final = (NEEDS_GLIBC,)
_VERSION: Final = re.compile(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?")
#: The oldest that package indexes have a tag for (manylinux2014); what needs no newer one runs wherever wheels do.
OLDEST: Final = (2, 17)


def check_oldest(packages: Sequence[Package]) -> Iterator[Finding]:
    """Name the file that needs the newest glibc, of all wheels whose tags promise none; the first of several."""
    newest = max(_needs(packages), key=lambda one: one[0], default=None)
    if newest is not None and newest[0] > OLDEST:
        version, package, path, symbol, library = newest
        evidence = f"glibc {version[0]}.{version[1]}: it needs {symbol} of {library}"
        yield NEEDS_GLIBC.finding(package.filename, path, evidence)


def _needs(packages: Sequence[Package]) -> Iterator[tuple[tuple[int, int], Package, str, str, str]]:
    """Yield versions of glibc that are needed: number, package, file, version as the file has it, library."""
    for package in packages:
        for path, linked in sorted(package.linked.items()) if _is_plain(package) else ():
            for library, versions in sorted(linked.requires.items()):
                for symbol in versions:
                    if match := _VERSION.fullmatch(symbol):
                        yield (int(match[1]), int(match[2])), package, path, symbol, library


def _is_plain(package: Package) -> bool:
    """Whether a tag of the package names Linux and no C library."""
    for platform in {tag.platform for tag in package.tags}:
        try:
            if any(promise.policy is None for promise in promises(platform)):
                return True
        except ToolError:
            continue  # Of another system.
    return False
