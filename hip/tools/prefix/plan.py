"""Plans the targets of the repository of an install prefix: one for each CMake package, and for each of its libraries.

    targets = plan_targets(prefix, read_packages(prefix))
    shared = plan_shared_libraries(prefix, targets)

Names are in lower case. A package's target is called as the package is (`miopen`), a library's as the library is
without its namespace: `hipfftw`. If that does not begin with the package's name, this comes before it: `hip_amdhip64`,
`hip_host`. What the package's target is:

- the library, if the package has one only;
- the library that is called as the package is: `hipfft`, beside `hipfftw`;
- else all libraries of the package for programs of the host: `hip` is `hip_amdhip64` and `hip_host`, not `hip_device`.

A target depends on the libraries that its library names. It also depends on the targets of packages that its package
asks for, and of those whose directory of headers its headers include from, unless it does so through the others. A
shared library needs what its ELF header names (DT_NEEDED). Each file that is a shared library is a target by its path,
which a slash tells from the others: `lib/libamdhip64.so.7`.
"""

import functools
import os
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Final

from hip.tools.prefix.library_files import ALL_HEADERS, LibraryFiles
from hip.tools.prefix.packages import DEVICE_OPTIONS, Library, Package
from hip.tools.prefix.shared_libraries import SharedLibraries
from lib.gpus.families import is_target
from lib.gpus.paths import named_targets
from lib.gpus.table import TARGETS
from lib.gpus.target_id import GENERIC_PROCESSORS, TargetId, can_load, gpus_of
from tools.fetch.catalog.names import CatalogError

#: Names of targets that are no packages.
RESERVED: Final = ("all_headers", "hip_compiler", "targets")


class DeviceData:
    """Looks for which GPUs the data files of libraries are, by their names: each directory once.

    A program that is compiled for some GPU targets reads the files for the GPUs that its code may run on.
    """

    def __init__(self, prefix: Path) -> None:
        self._prefix = prefix
        self._names: dict[str, dict[str, tuple[str, ...]]] = {}

    def readers(self, patterns: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return how names of data files say GPUs, and of each which targets have programs that read such files.

        `patterns` are `{directory}/**`. Targets are without features; names and targets are sorted.
        """
        found: dict[str, tuple[str, ...]] = {}
        for pattern in patterns:
            if pattern not in self._names:
                self._names[pattern] = self._look(pattern.removesuffix("/**"))
            found |= self._names[pattern]
        return dict(sorted(found.items()))

    def _look(self, directory: str) -> dict[str, tuple[str, ...]]:
        found = {}
        for place, _, names in os.walk(self._prefix / directory):
            for name in names:
                path = Path(place, name).relative_to(self._prefix).as_posix()
                for processor in {target.processor for target in named_targets(path)}:
                    if is_target(processor) or processor in GENERIC_PROCESSORS:
                        found[_as_in(path, processor)] = readers(processor)
        return found


def _as_in(path: str, processor: str) -> str:
    """Return a processor as a path has it: `gfx9_generic` in the names of identifiers."""
    return processor if processor in path else processor.replace("-", "_")


@functools.cache
def readers(processor: str) -> tuple[str, ...]:
    """Return the GPU targets, without features, whose programs may run where code for a processor is loaded."""
    named = {processor, *GENERIC_PROCESSORS, *(target.name for target in TARGETS)}
    targets = map(TargetId, named.union(*GENERIC_PROCESSORS.values()))
    code = TargetId(processor)
    return tuple(sorted(one.processor for one in targets if any(can_load(code, gpu) for gpu in gpus_of(one))))


@dataclass(frozen=True)
class Target:
    """A `rocm_library`. Paths and patterns are relative to the prefix, `deps` are names of other targets."""

    name: str
    #: Patterns, or library_files.ALL_HEADERS.
    hdrs: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    shared_library: str = ""
    static_library: str = ""
    deps: tuple[str, ...] = ()
    linkopts: tuple[str, ...] = ()
    #: Shared libraries that this one needs, and those that they need, unless `deps` have them. They are found by the
    #: search paths of those that need them.
    needed: tuple[str, ...] = ()
    #: Such libraries that no search path leads to, and those that the package itself links with: programs name them.
    linked: tuple[str, ...] = ()
    #: Patterns.
    data: tuple[str, ...] = ()
    #: How names of data files say GPUs, and which targets have programs that read such files: `DeviceData`.
    data_for: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def files(self) -> tuple[str, ...]:
        """The shared libraries that programs run with."""
        return tuple(one for one in (self.shared_library, *self.linked, *self.needed) if one)


def is_linkable(library: Library) -> bool:
    """Whether a linker takes a library. AMDDeviceLibs has bitcode, which only the compiler reads."""
    return library.kind != "static" or library.location.endswith(".a")


def label_of(package: str, library: str) -> str:
    """Return the name of the target of a library in a package with several; see the top of this file."""
    base = library.rpartition("::")[2].lower()
    return base if base.startswith(package.lower()) else f"{package.lower()}_{base}"


def aliases_of(libraries: Sequence[Library]) -> dict[str, str]:
    """Return which libraries of a package are another name of another one, as `foo` often is of `foo::foo`."""
    return {
        one.name: other.name
        for one in libraries
        for other in libraries
        if other.name.rpartition("::")[2].lower() == one.name.rpartition("::")[2].lower()
        and one == Library(one.name, "interface", "", (), (), (), (other.name,), ())
    }


class _Planner:
    """Plans the targets of one prefix."""

    def __init__(self, prefix: Path, packages: Sequence[Package]) -> None:
        self._files = LibraryFiles(prefix)
        self._device_data = DeviceData(prefix)
        self._shared = SharedLibraries(prefix)
        aliases = {alias: library for one in packages for alias, library in aliases_of(one.libraries).items()}
        self._packages = [
            replace(one, libraries=usable)
            for one in packages
            if (usable := tuple(each for each in one.libraries if is_linkable(each) and each.name not in aliases))
        ]
        self._by_package = {one.name.lower(): one for one in self._packages}
        self._labels = self._assign()
        self._labels |= {alias: self._labels[library] for alias, library in aliases.items() if library in self._labels}

    def _assign(self) -> dict[str, str]:
        """Return the name of each library's target. Raises CatalogError if two have one name."""
        labels: dict[str, str] = {}
        owners = dict.fromkeys(RESERVED, "this repository")
        for package in self._packages:
            own: dict[str, str] = {}
            for library in package.libraries:
                label = package.name.lower() if len(package.libraries) == 1 else label_of(package.name, library.name)
                if label in own:
                    raise _collision(label, own[label], library.name)
                own[label] = library.name
                labels.setdefault(library.name, label)
            for label, owner in {**own, package.name.lower(): f"the package {package.name}"}.items():
                if label in owners:
                    raise _collision(label, owners[label], owner)
                owners[label] = owner
        return labels

    def plan(self) -> list[Target]:
        targets = {}
        for package in self._packages:
            for library in package.libraries:
                if self._labels[library.name] not in targets:
                    targets[self._labels[library.name]] = self._target(package, library)
            if package.name.lower() not in targets:
                host = [one for one in package.libraries if not one.is_for_device] or package.libraries
                labels = tuple(self._labels[one.name] for one in host)
                targets[package.name.lower()] = Target(package.name.lower(), deps=labels)
        return self._with_needed(_without_cycles(self._with_headers(targets)))

    def _target(self, package: Package, library: Library) -> Target:
        name = self._labels[library.name]
        deps = [self._labels[one] for one in library.libraries if one in self._labels]
        return Target(
            name,
            hdrs=tuple(self._files.headers(package, library)),
            includes=library.include_directories,
            defines=library.defines,
            shared_library=library.location if library.kind == "shared" else "",
            static_library=library.location if library.kind == "static" else "",
            deps=tuple(one for one in dict.fromkeys(deps) if one != name),
            linkopts=tuple(one for one in library.link_options if not one.startswith(DEVICE_OPTIONS)),
            linked=tuple(one for one in library.files if not one.endswith(".a")),
        )

    def _with_headers(self, targets: Mapping[str, Target]) -> dict[str, Target]:
        """Add dependencies on the packages whose headers are included."""
        extended = dict(targets)
        owners = self._owners_of_headers(targets)
        for package in self._packages:
            asked = [one.lower() for one in package.dependencies if one.lower() in self._by_package]
            for name in sorted({self._labels[library.name] for library in package.libraries}):
                headers = [one for one in targets[name].hdrs if one != ALL_HEADERS]
                own = {posixpath.basename(one.removesuffix("/**")) for one in headers}
                foreign = sorted(self._files.included(headers) - own)
                included = [owners[one] for one in foreign if one in owners]
                for other in (*asked, *included):
                    known = _reached(extended, extended[name].deps)
                    if other != package.name.lower() and not known >= _contents(targets, other):
                        extended[name] = replace(extended[name], deps=(*extended[name].deps, other))
        return extended

    def _owners_of_headers(self, targets: Mapping[str, Target]) -> dict[str, str]:
        """Return the package that each directory of headers belongs to, by its name: `hip` for `include/hip/`."""
        owners: dict[str, list[str]] = {}
        for package in self._packages:
            for library in package.libraries:
                for pattern in targets[self._labels[library.name]].hdrs:
                    if pattern.endswith("/**"):
                        owners.setdefault(posixpath.basename(pattern[:-3]), []).append(package.name.lower())
        return {name: name if name in found else min(found) for name, found in owners.items()}

    def _with_needed(self, targets: Mapping[str, Target]) -> list[Target]:
        """Add what the shared libraries need when they run, and their data."""
        covered: dict[str, set[str]] = {}
        named: dict[str, set[str]] = {}  # what programs name, by the target that they depend on
        planned: dict[str, Target] = {}
        for name in TopologicalSorter({name: target.deps for name, target in targets.items()}).static_order():
            target = targets[name]
            own = target.shared_library
            linked, loaded = self._linked(target)
            linked -= {own}.union(*(named[dep] for dep in target.deps))
            inherited = set().union(*(covered[dep] for dep in target.deps))
            needed = loaded.union(*(self._shared.closure(one) for one in loaded)) - {own, *inherited, *linked}
            files = [path for path in (own, target.static_library, *linked, *needed) if path]
            data = sorted({pattern for path in files for pattern in self._files.data(path)})
            data_for = self._device_data.readers(data)
            planned[name] = replace(
                target, needed=tuple(sorted(needed)), linked=tuple(sorted(linked)), data=tuple(data), data_for=data_for
            )
            named[name] = linked.union(*(named[dep] for dep in target.deps), {own} - {""})
            covered[name] = inherited | needed | named[name]
        return [planned[name] for name in sorted(planned)]

    def _linked(self, target: Target) -> tuple[set[str], set[str]]:
        """Return which libraries programs have to name, besides a target's own, and all that are loaded first."""
        own = target.shared_library
        linked = {self._shared.by_soname(one) for one in target.linked}
        parts = set(self._files.parts(own)) if own else set()
        loaded = {own, *linked, *parts} - {""}
        linked |= {one for one in parts if not self._shared.reaches(own, one)}
        return linked.union(*(self._shared.unreached(one) for one in loaded)), loaded


def _collision(label: str, first: str, second: str) -> CatalogError:
    return CatalogError(
        f"//:{label}: {first} and {second} would both have this name; expected one of them in the prefix. "
        "Leave the artifact of the other out"
    )


def _contents(targets: Mapping[str, Target], name: str) -> set[str]:
    """Return what a target stands for: those that it groups, or itself."""
    target = targets[name]
    return {name} if target.hdrs or target.shared_library or target.static_library else {*target.deps} or {name}


def _reached(targets: Mapping[str, Target], names: Sequence[str]) -> set[str]:
    """Return targets and all that they depend on."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting += targets[name].deps
    return found


def _without_cycles(targets: Mapping[str, Target]) -> dict[str, Target]:
    """Leave out each dependency that leads back to where it begins: CMake allows cycles, Bazel does not."""
    state: dict[str, bool] = {}
    kept: dict[str, list[str]] = {name: [] for name in targets}
    for root in sorted(targets):
        waiting = [(root, iter(targets[root].deps))] if root not in state else []
        state.setdefault(root, False)
        while waiting:
            name, deps = waiting[-1]
            for dep in deps:
                if state.get(dep) is False:
                    continue  # it is being visited: a cycle
                kept[name].append(dep)
                if dep not in state:
                    state[dep] = False
                    waiting.append((dep, iter(targets[dep].deps)))
                    break
            else:
                state[name] = True
                waiting.pop()
    return {name: replace(target, deps=tuple(kept[name])) for name, target in targets.items()}


def plan_targets(prefix: Path, packages: Sequence[Package]) -> tuple[Target, ...]:
    """Return the targets for packages of a prefix, sorted by name. Raises CatalogError if two would have one name."""
    return tuple(_Planner(prefix, packages).plan())


def plan_shared_libraries(prefix: Path, targets: Sequence[Target], programs: Iterable[str] = ()) -> dict[str, bool]:
    """Return the shared libraries of targets and of programs, sorted, and whether each has device code in itself."""
    shared = SharedLibraries(prefix)
    paths = {one for target in targets for one in target.files}.union(*map(shared.closure, programs))
    return {path: shared.has_device_code(path) for path in sorted(paths)}
