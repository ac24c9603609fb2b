"""Reads the wheels of an SDK: which libraries they have, and, of those that are needed, all that a proof asks for.

An SDK has gigabytes, of which few libraries matter. So only the archives' directories are read at first, and then the
libraries with the names that are asked for, and those that they need, until nothing is asked for any more.
"""

import filecmp
import posixpath
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from packaging.utils import NormalizedName
from packaging.version import Version

from lib.common.command import CannotRunError
from lib.common.program import ToolError
from lib.elf.dynamic_symbols import DynamicSymbols
from lib.elf.library_name import parse_library_name
from lib.gpus.paths import target_of_distribution
from lib.wheel.zip_members import ZipMember
from wheels.require_sdk.libraries import COLLECTOR, stem, symbols_of
from wheels.require_sdk.own_gpus import Gpus
from wheels.verify.engine import find_distributions
from wheels.verify.model import DistributionSet, FileFacts
from wheels.verify.wheel import OpenedWheel, Reader, is_dist_info, make_wheel, open_wheel, read_members
from wheels.verify.wheel_set.gather import COLLECTORS, LINKED, gather
from wheels.verify.wheel_set.model import Linked, Package
from wheels.verify.wheel_set.requirements import MAX_SIZE, is_selector_file
from wheels.verify.windows import is_for_windows


@dataclass(frozen=True)
class SdkLibrary:
    """A library of an SDK's wheel; `path` is relative to site-packages."""

    path: str
    distribution: NormalizedName
    version: Version
    wheel: str

    @property
    def name(self) -> str:
        """The file name, which the loader looks for."""
        return posixpath.basename(self.path)

    @property
    def directory(self) -> str:
        """The directory that it lies in."""
        return posixpath.dirname(self.path)


@dataclass(frozen=True)
class _SdkMember:
    """A library, and where its bytes are."""

    library: SdkLibrary
    wheel: int
    member: ZipMember

    @property
    def target(self) -> str | None:
        """The GPU target or family that its package is for; None if for all GPUs."""
        return target_of_distribution(self.library.distribution)

    @property
    def place(self) -> tuple[int, int, str]:
        """Key for sorting: of several libraries with one name, the first counts."""
        return self.depth, -self.member.size, self.library.path

    @property
    def depth(self) -> int:
        """Number of directories above it."""
        return self.library.path.count("/")


class Sdk:
    """The wheels of an SDK. Each call of `read` adds facts about them."""

    def __init__(self, paths: Sequence[Path], take: Collection[str], gpus: Gpus) -> None:
        """Read wheels, and directories of wheels; `take` are patterns of file names.

        If packages are for several GPUs, only packages for `gpus` are used. Raises ToolError for a file that is not a
        wheel, and for a pattern that matches no library.
        """
        self.gpus = gpus
        wheels, sdists = find_distributions(paths)
        if not wheels:
            raise CannotRunError(
                f"{', '.join(map(str, paths))}: no wheels (.whl) of an SDK there. Name them with --sdk"
            )
        self._opened = [open_wheel(path) for path in wheels]
        self._facts: list[dict[str, FileFacts]] = [{} for _ in wheels]
        self._found: dict[str, list[_SdkMember]] = defaultdict(list)
        self._wheels: dict[NormalizedName, int] = {}
        for number, opened in enumerate(self._opened):
            self._list(number, opened)
        self._fitting = {name: self._for_gpus(found) for name, found in self._found.items()}
        self._members = {name: min(found, key=lambda one: one.place) for name, found in self._fitting.items()}
        self.libraries = {name: found.library for name, found in self._members.items()}
        """By file name. Of several with one name, that with the shortest path: others are private to a part.

        Of several with equally short ones the largest counts: forwarders of development packages are small.
        """
        if not self.libraries:
            raise ToolError(f"{wheels[0]}: no library (lib*.so) in the wheels of --sdk. Name those that have some")
        for pattern in take:
            if not any(fnmatchcase(name, pattern) for name in self.libraries):
                raise CannotRunError(
                    f"--take={pattern}: matches no library of the SDK; expected a file name or pattern"
                )
        self.offered = _offered(self.libraries, take)
        """What wheels take from the SDK, by file name."""
        self.selectors = self._selectors(sdists)
        """The distributions that say which packages there are, and bring them as extras."""

    def _list(self, number: int, opened: OpenedWheel) -> None:
        wheel = make_wheel(opened, ())
        if wheel.name is None or wheel.version is None:
            raise ToolError(f"{opened.path}: not a wheel's file name; expected NAME-VERSION-PYTHON-…")
        if trouble := opened.archive.damage:
            raise ToolError(f"{opened.path}: damaged: {trouble.member} {trouble.evidence}. Download it again")
        libraries = [
            (member, place)
            for member in opened.to_read
            if parse_library_name(place := wheel.installed(member.name) or "")
        ]
        if is_for_windows(wheel.tags) or (wheel.label and not libraries):  # Variants of the selector are many.
            return
        if wheel.name in self._wheels:
            other = self._opened[self._wheels[wheel.name]].path
            if other.name == opened.path.name and filecmp.cmp(other, opened.path, shallow=False):
                return
            raise CannotRunError(f"{opened.path} and {other}: two wheels of {wheel.name} in --sdk. Name one of them")
        self._wheels[wheel.name] = number
        for member, path in libraries:
            found = SdkLibrary(path, wheel.name, wheel.version, opened.path.name)
            self._found[found.name].append(_SdkMember(found, number, member))

    def _for_gpus(self, found: Sequence[_SdkMember]) -> list[_SdkMember]:
        """Return the libraries of packages for the GPUs, and for all; else all of them."""
        return [one for one in found if one.target is None or self.gpus.fit(one.target)] or list(found)

    def _check_unambiguous(self, name: str) -> None:
        """Raise ToolError for a library of several packages, or of one for another GPU: a process uses one of them."""
        chosen, found = self._members[name], self._fitting[name]
        if chosen.target and not self.gpus.fit(chosen.target):
            wheels = ", ".join(sorted(one.library.wheel for one in found))
            targets = ", ".join(sorted(one.target or "" for one in found))
            raise ToolError(
                f"{wheels}: {'has' if len(found) == 1 else 'have'} {name} for {targets}, and {self.gpus.reason}. Give "
                "the packages for that GPU as --sdk, or say --device=machine if these are right"
            )
        equal = [one for one in found if one.depth == chosen.depth]
        rivals = sorted((one for one in equal if one.target != chosen.target), key=lambda one: one.place)
        if rivals:
            one, other = sorted((chosen, rivals[0]), key=lambda one: one.library.wheel)
            raise ToolError(
                f"{one.library.wheel} and {other.library.wheel}: both have {name}, for {one.target or 'all GPUs'} and "
                f"for {other.target or 'all GPUs'}; expected the packages for one GPU. Name the GPU with --device, or "
                "these packages alone with --sdk, not a directory with packages for several GPUs"
            )
        self._check_one_library(chosen, equal)

    def _check_one_library(self, chosen: _SdkMember, found: Sequence[_SdkMember]) -> None:
        """Raise ToolError if several distributions have different libraries of one name; forwarders bring the one."""
        if len({one.library.distribution for one in found}) == 1:
            return
        read = [(one, self._facts_of(one.wheel, [one.member])[0]) for one in found]
        linked = ((one, facts, facts.collected.get(LINKED)) for one, facts in read)
        libraries = {
            facts.sha256: one for one, facts, link in linked if isinstance(link, Linked) and not link.is_forwarder
        }
        if len(libraries) > 1:
            wheels = sorted({one.library.wheel for one in libraries.values()})
            raise ToolError(
                f"{' and '.join(wheels)}: have different libraries {chosen.library.name}; expected one. Leave the "
                "packages that the wheel must not use out of --sdk"
            )

    @property
    def stems(self) -> dict[str, str]:
        """The names of offered libraries with a version, by their names without one."""
        return {stem(name): name for name in sorted(self.offered) if not name.endswith(".so")}

    def read(self, names: Iterable[str]) -> "SdkFacts":
        """Read the libraries with these names, and the SDK's libraries that they need. Raises ToolError for damage.

        It raises ToolError as well if several packages offer one of them. Each package finds its own private libraries,
        so all of these are read.
        """
        wanted, done = set(names) & self.libraries.keys(), set[str]()
        while wanted:
            by_wheel: dict[int, list[ZipMember]] = defaultdict(list)
            for name in sorted(wanted):
                if name in self.offered:
                    self._check_unambiguous(name)
                for one in [self._members[name]] if name in self.offered else self._fitting[name]:
                    by_wheel[one.wheel].append(one.member)
            done |= wanted
            needed: set[str] = set()
            for number, members in by_wheel.items():
                for facts in self._read(number, members):
                    linked = facts.collected.get(LINKED)
                    needed |= set(linked.needed) if isinstance(linked, Linked) else set()
            wanted = (needed & self.libraries.keys()) - done
        return self._gathered()

    def _selectors(self, sdists: Sequence[Path]) -> tuple[Package, ...]:
        """Return the distributions that select others. Raises ToolError for damaged ones."""
        found, faults = gather(DistributionSet((), tuple(sdists)))
        for name, path, why in faults:
            raise ToolError(f"{name}: {path or 'this sdist'}: {why}. Download it again, or leave it out of --sdk")
        wheels = [
            self._package(number, [member])
            for number in self._wheels.values()
            for member in self._opened[number].to_read
            if is_selector_file(member.name) and member.size <= MAX_SIZE
        ]
        return tuple(package for package in (*found, *wheels) if package.selector is not None)

    def _package(self, number: int, members: Sequence[ZipMember] = ()) -> Package:
        """Return a wheel of the SDK with its metadata, and with these members alone."""
        opened = self._opened[number]
        texts = [member for member in opened.to_read if is_dist_info(member.name)]
        wheel = make_wheel(opened, self._facts_of(number, [*texts, *members]))
        (package,), _ = gather(DistributionSet((wheel,)))
        return package

    def _read(self, number: int, members: Sequence[ZipMember]) -> list[FileFacts]:
        facts = self._facts_of(number, members)
        self._facts[number] |= {one.path: one for one in facts}
        return facts

    def _facts_of(self, number: int, members: Sequence[ZipMember]) -> list[FileFacts]:
        opened = self._opened[number]
        facts = list(read_members(opened.path, members, Reader((*COLLECTORS, COLLECTOR))))
        for one in facts:
            if one.damage or one.elf_damage:
                reason = f"{one.path}: {one.damage or one.elf_damage}"
                raise ToolError(f"{opened.path}: {reason}. Download or build the wheel again")
        return facts

    def _gathered(self) -> "SdkFacts":
        symbols: dict[str, DynamicSymbols] = {}
        wheels = []
        for number, opened in enumerate(self._opened):
            if not self._facts[number]:
                continue
            self._read(number, [member for member in opened.to_read if is_dist_info(member.name)])
            wheel = make_wheel(opened, self._facts[number].values())
            wheels.append(wheel)
            for path, found in symbols_of(wheel.files, opened.path.name).items():
                symbols[wheel.installed(path) or path] = found
        packages, _ = gather(DistributionSet(tuple(wheels)))
        return SdkFacts(packages, symbols, frozenset(self.libraries))


def _offered(libraries: Mapping[str, SdkLibrary], take: Collection[str]) -> dict[str, SdkLibrary]:
    """Return the libraries that lie nearest to the top of their trees, and those that match `take`.

    Deeper ones, such as in lib/llvm/lib, are private: an SDK's libgomp is not for everybody who needs a libgomp.
    """
    depths: dict[str, int] = {}
    for one in libraries.values():
        top = one.path.partition("/")[0]
        depths[top] = min(depths.get(top, one.path.count("/")), one.path.count("/"))
    return {
        name: one
        for name, one in sorted(libraries.items())
        if one.path.count("/") == depths[one.path.partition("/")[0]]
        or any(fnmatchcase(name, pattern) for pattern in take)
    }


@dataclass(frozen=True)
class SdkFacts:
    """Facts about the SDK: the wheels that have a needed library, and symbols of libraries by path."""

    packages: tuple[Package, ...] = ()
    symbols: Mapping[str, DynamicSymbols] = field(default_factory=dict, repr=False)
    names: frozenset[str] = frozenset()
    """The file names of all libraries that the SDK has."""
