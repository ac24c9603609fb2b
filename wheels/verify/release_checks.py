"""Finds what a release lost since the last one: distributions, libraries, symbols, device code, files.

    check(last_release, release)

Programs of users were linked with the last release, and their environments were made for it. Each rule names what is
gone; an exception accepts it. What is new is no finding, but requirements: they change what is installed.
"""

import posixpath
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

from packaging.utils import canonicalize_name, parse_sdist_filename

from lib.common.program import named
from lib.elf.dynamic_symbols import read_dynamic_symbols
from lib.elf.library_name import parse_library_name
from lib.elf.source import ElfError
from lib.gpus.target_id import TargetId
from wheels.verify.device.package_targets import Owned, owned_packages, serves
from wheels.verify.device.places import find_libraries, find_trees
from wheels.verify.device.rules import listed
from wheels.verify.finding import Finding, Rule, Severity
from wheels.verify.model import Collector, DistributionSet, FileFacts, Wheel
from wheels.verify.wheel_set.gather import DEVEL, by_platform, dependencies, gather
from wheels.verify.wheel_set.model import DevelTree, Package
from wheels.verify.windows import is_for_windows

DISTRIBUTION = Rule(
    "R101",
    "a distribution of the last release is gone",
    why="Whoever requires it cannot install this release.",
    remedy="Build it, or keep an empty distribution that requires what took its place.",
)
LIBRARY = Rule(
    "R102",
    "a library of the last release is gone",
    why="Programs that were linked with it need its SONAME, and do not start without it.",
    remedy="Package it, or declare an exception that says what took its place.",
)
SYMBOLS = Rule(
    "R103",
    "a library lacks symbols that it had in the last release",
    why="Programs that use one do not start, or end when they call it. A library that is not compatible with the last "
    "one gets another SONAME.",
    remedy="Define them again, or change the SONAME. If nobody can have used them, declare an exception.",
)
FILES = Rule(
    "R104",
    "files of the last release are gone",
    severity=Severity.WARNING,
    why="Builds find headers and CMake files, and programs find data, by their paths.",
    remedy="Package them, or declare an exception that says why nobody needs them.",
)
REQUIREMENTS = Rule(
    "R105",
    "requirements are not as in the last release",
    severity=Severity.WARNING,
    why="Environments with the last release may not accept this one, or may lose packages.",
    remedy="If this is intended, declare an exception.",
)
MOVED = Rule(
    "R106",
    "files of the last release moved to another distribution",
    why="pip installs the new version of one distribution and then removes the old version of the other, with the "
    "files that moved. Then neither has them.",
    remedy="Leave the files where they were, or let the distribution that has them now require the other: pip upgrades "
    "that first. Otherwise declare an exception, and tell users to install with --force-reinstall.",
)
DEVICE_CODE = Rule(
    "R107",
    "a library lacks device code for GPU targets that it had in the last release",
    why="Programs that use the library fail on such a GPU (hipErrorNoBinaryForGpu), and ran with the last release.",
    remedy="Build the library for these targets again. If this is intended, declare an exception and tell users.",
)
EXPORTS: Final = "exports"
#: How many names a finding lists.
LISTED: Final = 50


def _wants(path: str, size: int, head: bytes) -> bool:
    return head.startswith(b"\x7fELF\x02\x01") and parse_library_name(path) is not None


def _read(file: BinaryIO, facts: FileFacts) -> object:
    """Return the symbols that a library defines, each `NAME@VERSION`, or `NAME` without one."""
    try:
        defined = read_dynamic_symbols(file, facts.elf).defined if facts.elf else {}
    except ElfError:
        return None  # W4xx says so.
    return frozenset(f"{name}@{one}" if one else name for name, versions in defined.items() for one in versions)


#: What has to be taken out of files to compare releases.
COLLECTOR: Final = Collector(EXPORTS, _wants, inspect=_read)


@dataclass(frozen=True)
class _Library:
    """A library in a wheel; `symbols` is None if they cannot be read."""

    wheel: Wheel
    path: str
    symbols: frozenset[str] | None


def check(last: DistributionSet, release: DistributionSet) -> Iterator[Finding]:
    """Compare a release with the last one."""
    names = _names(release)
    for name, filename in sorted(_names(last).items()):
        if name not in names:
            yield DISTRIBUTION.finding(filename, "", f"no distribution is called {name.partition(' ')[0]}")
    new = _libraries(release)
    for name, libraries in sorted(_libraries(last).items()):
        for library in libraries:
            yield from _check_library(name, library, new)
    before, now = ({_key(wheel): wheel for wheel in one.wheels} for one in (last, release))
    came = {key: _paths(wheel) - (_paths(before[key]) if key in before else set()) for key, wheel in now.items()}
    for key in sorted(before.keys() & now.keys()):
        yield from _check_files(before[key], now[key], set().union(*came.values()))
        yield from _check_requirements(before[key], now[key])
    yield from _check_moves(before, now)
    yield from _check_device_code(gather(last)[0], gather(release)[0])


def _check_device_code(last: Sequence[Package], release: Sequence[Package]) -> Iterator[Finding]:
    """Name the libraries that lost device code.

    DISTRIBUTION says which targets have no package any more, and LIBRARY and FILES which libraries are gone.
    """
    before, owned = owned_packages(last), owned_packages(release)
    new = _device_libraries(release)
    files = {_plain(path): (package.filename, path) for package in release for path in package.files}
    for (place, name), codes in sorted(_device_libraries(last).items()):
        same = new.get((place, name), frozenset())
        same = same or frozenset().union(*(one for (_, other), one in new.items() if other == name))
        lost = [code for code in sorted(codes) if not serves(same, code)]
        lost = [code for code in lost if _has_owner(owned, code) or not _has_owner(before, code)]
        if lost and (same or name in files):
            wheel, path = files.get(name, ("", name))
            yield DEVICE_CODE.finding(wheel, path, f"there is code for {listed(same)}", map(str, lost))


def _has_owner(owned: Mapping[str, Owned], code: TargetId) -> bool:
    return any(one.can_use(code) for one in owned.values())


def _device_libraries(packages: Sequence[Package]) -> dict[tuple[str, str], frozenset[TargetId]]:
    """Return the targets of all code of each library, by the kind of its tree and its `_plain` path."""
    found: dict[tuple[str, str], frozenset[TargetId]] = defaultdict(frozenset)
    for group in by_platform(packages):
        for library in find_libraries(find_trees(group, owned_packages(group)).values()):
            tree, path = library.copies[0].tree, library.copies[0].path
            found[tree.kind, _plain(f"{tree.name}/{path}")] |= library.codes
    return found


def _plain(path: str) -> str:
    """Return the path of a library below its tree, without the versions behind `.so`, which releases change."""
    directory, name = posixpath.split(path.partition("/")[2])
    return posixpath.join(directory, _stem(name))


def _check_moves(last: Mapping[str, Wheel], new: Mapping[str, Wheel]) -> Iterator[Finding]:
    """Name the files that pip loses in an upgrade, by directory."""
    lost: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(dict)
    for key, owner in new.items():
        came = set(owner.files) - set(last[key].files if key in last else ())
        required = {canonicalize_name(one.name) for one in dependencies(owner.text("METADATA")).requires}
        for other in last.keys() & new.keys() - {key}:
            gone = set(last[other].files) - set(new[other].files)
            if is_for_windows(owner.tags) == is_for_windows(new[other].tags) and new[other].name not in required:
                for path in came & gone:
                    lost[key, other].setdefault(posixpath.dirname(path), set()).add(posixpath.basename(path))
    for (key, other), directories in sorted(lost.items()):
        for directory, names in sorted(directories.items()):
            text = f"{_listed(sorted(names))}: in the last release, {last[other].filename} had them"
            yield MOVED.finding(new[key].filename, directory, text)


def _key(wheel: Wheel) -> str:
    """Return what all releases of a distribution have in common: its name, and the kind of platform."""
    return f"{wheel.name or wheel.filename}{' for Windows' if is_for_windows(wheel.tags) else ''}"


def _names(distributions: DistributionSet) -> dict[str, str]:
    """Return the file name of each distribution, by its `_key` (the name of an sdist)."""
    sdists = {str(parse_sdist_filename(path.name)[0]): path.name for path in distributions.sdists}
    return sdists | {_key(wheel): wheel.filename for wheel in distributions.wheels}


def _libraries(distributions: DistributionSet) -> dict[str, list[_Library]]:
    """Return the libraries by SONAME; DLLs by their file's name, in lower case."""
    found: dict[str, list[_Library]] = defaultdict(list)
    for wheel in distributions.wheels:
        for path, facts in wheel.files.items():
            name, symbols = _exports(path, facts)
            if name:
                found[name].append(_Library(wheel, path, symbols))
    return found


def _exports(path: str, facts: FileFacts) -> tuple[str, frozenset[str] | None]:
    """Return the name of a library, and its symbols; no name for another file."""
    if facts.elf and facts.elf.soname and parse_library_name(path):
        symbols = facts.collected.get(EXPORTS)
        return facts.elf.soname, symbols if isinstance(symbols, frozenset) else None
    if facts.pe and path.lower().endswith(".dll"):
        return posixpath.basename(path).lower(), frozenset(one.name for one in facts.pe.exports if one.name)
    return "", None


def _check_library(name: str, library: _Library, new: Mapping[str, list[_Library]]) -> Iterator[Finding]:
    """Check that the new release has a library of the last one, with all of its symbols.

    The library may have moved to another distribution.
    """
    others = new.get(name, [])
    if not others:
        similar = sorted(one for one in new if _stem(one) == _stem(name))
        text = f"no library has the SONAME {name}" + (f"; there is {named(similar)}" if similar else "")
        yield LIBRARY.finding(library.wheel.filename, library.path, text)
        return
    same = [one for one in others if _key(one.wheel) == _key(library.wheel)] or others
    if library.symbols is None or any(one.symbols is None for one in same):
        return
    gone = sorted(library.symbols.difference(*(one.symbols or () for one in same)))
    if gone:
        yield SYMBOLS.finding(same[0].wheel.filename, same[0].path, f"{len(gone)} are gone: {_listed(gone)}")


def _stem(name: str) -> str:
    library = parse_library_name(name)
    return library.stem if library else name


def _listed(names: list[str]) -> str:
    more = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f", and {more} more" if more > 0 else "")


def _paths(wheel: Wheel) -> set[str]:
    """Return the files that a wheel brings, in the archive of a devel package too; no libraries, and no metadata."""
    paths = set(wheel.files)
    for facts in wheel.files.values():
        tree = facts.collected.get(DEVEL)
        if isinstance(tree, DevelTree):
            paths |= {*tree.files, *tree.links}
    return {path for path in paths if not (parse_library_name(path) or ".dist-info/" in path)}


def _check_files(last: Wheel, wheel: Wheel, came: set[str]) -> Iterator[Finding]:
    """Name the files that are gone, by directory; `came` is what other distributions have now."""
    gone: dict[str, list[str]] = defaultdict(list)
    for path in sorted(_paths(last) - _paths(wheel) - came):
        gone[posixpath.dirname(path)].append(posixpath.basename(path))
    for directory, names in sorted(gone.items()):
        yield FILES.finding(wheel.filename, directory, _listed(names))


def _requirements(wheel: Wheel) -> set[str]:
    """Return the requirements of a wheel; its own version in them is `{version}`."""
    own, requires = f"=={wheel.version}", dependencies(wheel.text("METADATA")).requires
    return {str(one).replace(own, "=={version}") if str(one.specifier) == own else str(one) for one in requires}


def _check_requirements(last: Wheel, wheel: Wheel) -> Iterator[Finding]:
    """Name the requirements that are new or gone."""
    before, now = _requirements(last), _requirements(wheel)
    for what, texts in (("new", now - before), ("gone", before - now)):
        for text in sorted(texts):
            yield REQUIREMENTS.finding(wheel.filename, "", f"{what}: {text}")
