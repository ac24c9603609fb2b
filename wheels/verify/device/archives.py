"""The archives that a library's device code was split off into: where HIP looks, and what is there."""

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lib.device.kpack import PLACEHOLDER
from lib.gpus.target_id import TargetId
from wheels.verify.device.facts import DeviceFacts
from wheels.verify.device.package_contents import device_files
from wheels.verify.device.package_targets import serves
from wheels.verify.device.rules import ENTRIES
from wheels.verify.finding import Finding
from wheels.verify.wheel_set.model import Package


@dataclass(frozen=True)
class CodePlace:
    """A bundle, the bundle's entries in archives, or the files of a directory that are named for targets.

    `path` is where the file, or the directory, is in the wheel of `package`; `number` counts the file's bundles.
    """

    package: Package
    path: str
    codes: frozenset[TargetId]
    number: int = 0
    is_directory: bool = False
    is_archived: bool = False
    """Whether the code is in archives, to which the file at `path` refers."""
    is_program: bool = False
    """Whether the file is an ELF file, and so owns its code."""


@dataclass(frozen=True)
class Archives:
    """What a library refers to: `searched` are paths with a placeholder, `found` the archives there, by path."""

    name: str
    """What the library is called in archives."""
    searched: tuple[str, ...]
    found: Mapping[str, DeviceFacts]

    def codes(self, number: int) -> frozenset[TargetId]:
        """Return for what the archives have a bundle."""
        entry = f"{self.name}#{number}"
        return frozenset().union(*(facts.archive.get(entry, frozenset()) for facts in self.found.values()))

    @property
    def numbers(self) -> frozenset[int]:
        """The numbers of the bundles that any archive has an entry for."""
        pairs = (entry.rpartition("#") for facts in self.found.values() for entry in facts.archive)
        return frozenset(int(number) for name, _, number in pairs if name == self.name and number.isdecimal())

    def named_for(self, target: TargetId) -> list[str]:
        """Return the archives at the paths that the library gives for a target, sorted; empty if there are none."""
        wanted = [place.replace(PLACEHOLDER, str(target)) for place in self.searched]
        return sorted(path for path in self.found if path in wanted)


def archives_of(path: str, facts: DeviceFacts, packages: Sequence[Package]) -> Archives | None:
    """Return what a library refers to among the files of packages; None if its code was not split off."""
    if facts.reference is None:
        return None
    folder = posixpath.dirname(path)
    searched = tuple(posixpath.normpath(posixpath.join(folder, one)) for one in facts.reference.paths)
    patterns = [re.compile(re.escape(place).replace(re.escape(PLACEHOLDER), "[^/]+")) for place in searched]
    found = {
        place: one
        for package in packages
        for place, one in device_files(package).items()
        if any(pattern.fullmatch(place) for pattern in patterns)
    }
    return Archives(facts.reference.name, searched, found)


def archived_places(
    package: Package, path: str, facts: DeviceFacts, packages: Sequence[Package]
) -> Iterator[CodePlace]:
    """Yield a place for each bundle that a library takes out of archives. Those that none has are `check_entries`'."""
    archives = archives_of(path, facts, packages)
    for number in sorted(archives.numbers) if archives else ():
        if archives and (number in facts.wrappers or not facts.wrappers):
            yield CodePlace(package, path, archives.codes(number), number, is_archived=True, is_program=True)


def check_entries(package: Package, top: str, packages: Sequence[Package]) -> Iterator[Finding]:
    """Compare the wrappers of each library in a tree, which ask for bundles by number, with what archives have."""
    for path, facts in device_files(package).items():
        archives = archives_of(path, facts, packages) if path.startswith(top + "/") else None
        if archives is None or not archives.numbers or not facts.wrappers:
            continue
        wanted, there = frozenset(facts.wrappers), archives.numbers
        said = [
            *_differing("no archive has", wanted - there, archives.name),
            *_differing("no wrapper asks for", there - wanted, archives.name),
            *(f"{count} wrappers ask for #{number}" for number, count in _repeated(facts.wrappers)),
        ]
        if wanted != there:
            targets = tuple(sorted({str(code) for number in there for code in archives.codes(number)}))
            evidence = f"{len(facts.wrappers)} wrappers, {len(there)} entries in archives: {'; '.join(said)}"
            yield ENTRIES.finding(package.filename, path, evidence, targets)


def _differing(what: str, numbers: frozenset[int], name: str) -> Iterator[str]:
    if numbers:
        shown = ", ".join(f"#{number}" for number in sorted(numbers)[:5]) + (", …" if len(numbers) > 5 else "")
        yield f"{what} {len(numbers)} of {name} ({shown})"


def _repeated(wrappers: Sequence[int]) -> list[tuple[int, int]]:
    return sorted((number, count) for number, count in Counter(wrappers).items() if count > 1)


def why_missing(archives: Archives, target: TargetId) -> str:
    """Say why no archive has anything of a library for a target: no archive, or no entry in it."""
    there = archives.named_for(target)
    if not there:
        return f"there is no archive for it; looked for {', '.join(archives.searched)}"
    has = [path for path in there if any(serves(codes, target) for codes in archives.found[path].archive.values())]
    return f"{', '.join(has or there)} lacks an entry for {archives.name}/{target}"
