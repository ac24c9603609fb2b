"""Proves from the tables of ELF files that the planned wheel works with the SDK.

The loader of `verify` loads each file of the wheel, beside the packages that the wheel requires.
Each needed library has to be there, or on every system with the wheel's platform tag, or be named by the caller. Then
each symbol that the SDK's libraries must supply has to be there, in its version.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from packaging.utils import canonicalize_name

from lib.common.program import ToolError
from lib.elf.dynamic_symbols import DynamicSymbols, NeededSymbol
from lib.elf.platforms import is_system_library
from wheels.require_sdk.libraries import symbols_of
from wheels.require_sdk.needs import matches, shown
from wheels.require_sdk.plan import FileEdit, RequiringWheel
from wheels.verify.settings import Settings
from wheels.verify.wheel_set.closure import applies, by_name, closure
from wheels.verify.wheel_set.linking import VERSION, check_linking, system_names
from wheels.verify.wheel_set.loader import Installation, Loading, Missing, install
from wheels.verify.wheel_set.model import Package

#: Symbols of the interpreter, which loads extension modules.
_PYTHON = re.compile(r"_?Py")


@dataclass(frozen=True)
class Proof:
    """Result of the proof."""

    symbols: int
    """How many symbols the SDK's libraries supply, summed up over the files."""
    unproven: Mapping[str, tuple[str, ...]]
    """By file the symbols that something else has to supply that was not looked at."""


def installed_package(plan: RequiringWheel) -> Package:
    """Return the planned wheel, as it is installed."""
    gone = {copy.path for copy in plan.left_out}
    linked = {path: one for path, one in plan.package.linked.items() if path not in gone}
    for edit in plan.edits:
        old, renamed = linked[edit.path], edit.needs.renamed
        linked[edit.path] = replace(
            old,
            rpath=edit.search_path,
            runpath=(),
            needed=tuple(renamed.get(name, name) for name in old.needed),
            requires={renamed.get(name, name): versions for name, versions in old.requires.items()},
        )
    return replace(
        plan.package,
        filename=plan.name.filename,
        version=plan.name.version,
        requires=(*plan.package.requires, *plan.requirements),
        files={path: facts for path, facts in plan.package.files.items() if path not in gone},
        external=(*plan.package.external, *plan.externals),
        linked=linked,
    )


def prove(plan: RequiringWheel, allow_missing: Collection[str] = ()) -> Proof:
    """Prove it. Raises ToolError, which names all that is missing; symbols that match `allow_missing` may be."""
    package = installed_package(plan)
    packages = (package, *plan.sdk.packages)
    faults = [
        f"{one.id} {one.rule.title}: {one.file} {one.said}"
        for one in check_linking(packages, by_name(packages), Settings())
        if one.wheel == package.filename and one.rule is VERSION
    ]
    faults += _contradictions(plan.sdk.packages)
    prover = _Prover(plan, package, install(closure(package, by_name(packages))), matches(allow_missing))
    prover.check_libraries()
    for edit in plan.edits:
        prover.check(edit)
    for path in sorted(package.linked.keys() - {edit.path for edit in plan.edits}):
        prover.check_other(path)
    faults += prover.faults
    if faults:
        lost = "".join(f" --externals={name}" for name in sorted(prover.lost))
        external = f" If users' machines or other packages have these libraries:{lost}." if lost else ""
        raise ToolError(
            f"{plan.wheel.path}: does not fit this SDK:{shown(faults)}\nGive all wheels of the SDK that it was built "
            f"with, or build it with this one.{external} If another library supplies such a symbol: "
            "--allow-missing=SYMBOL"
        )
    return Proof(prover.count, prover.unproven)


def _contradictions(packages: Sequence[Package]) -> Iterator[str]:
    """Yield which packages of the SDK require other versions of each other: no installer brings them together."""
    versions = {package.name: package.version for package in packages}
    for package in packages:
        for one in filter(applies, package.requires):
            version = versions.get(canonicalize_name(one.name))
            if version is not None and not one.specifier.contains(version, prereleases=True):
                yield f"{package.filename}: requires {one}, and --sdk has {version}"


class _Prover:
    """Checks one file after the other, and collects what it finds."""

    def __init__(
        self, plan: RequiringWheel, package: Package, installed: Installation, may_lack: Callable[[str], bool]
    ) -> None:
        files = plan.wheel.wheel.files
        places = {plan.wheel.wheel.installed(path): path for path in files}
        by_source = symbols_of(files, plan.wheel.path.name)
        self._own = {path: by_source.get(places[path] or path, DynamicSymbols()) for path in plan.package.linked}
        self._kept = [self._own[path] for path in package.linked]
        self._gone = {copy.path: copy for copy in plan.left_out}
        self._plan, self._package, self._sdk, self._may_lack = plan, package, plan.sdk.symbols, may_lack
        self._installed = installed
        loader = installed.loader(system_names(package, Settings()))
        self._loadings: dict[str, Loading] = {path: loader.load(path) for path in sorted(package.linked)}
        self.lost: set[str] = set()
        """The libraries that were not found anywhere."""
        self.faults: list[str] = []
        self.unproven: dict[str, tuple[str, ...]] = {}
        self.count = 0

    def check_libraries(self) -> None:
        """Check that each library is found which a file of the wheel needs, or a library of the SDK that it loads.

        A file that only its users let find a library stays as it was.
        """
        found = {key for loading in self._loadings.values() for key in loading.found}
        missing: dict[tuple[str, str], dict[str, None]] = {}
        for one in (one for loading in self._loadings.values() for one in loading.missing):
            if (one.object, one.name) not in found and not self._is_external(one):
                missing.setdefault((one.name, self._nowhere(one)), {})[one.object] = None
        for (name, said), (first, *more) in missing.items():
            needs = f"{first} and {len(more)} more need" if more else f"{first} needs"
            self.faults.append(f"{needs} {name}, and {said}")
            self.lost.add(name)

    def _is_external(self, missing: Missing) -> bool:
        """Whether the caller, or the package of a file, says that the system has what the file needs."""
        owner = self._installed.owners[missing.object]
        return self._plan.may_be_external(missing.name) or system_names(owner, Settings())(missing.name)

    def _nowhere(self, missing: Missing) -> str:
        name = missing.name
        if name in self._plan.sdk.names and missing.object in self._sdk:
            return "its search path does not lead to --sdk, which has it"
        if name in self._plan.sdk.names:
            return f"--sdk has it in a deeper directory; --take={name} uses it"
        there = sorted(path for path in self._package.linked if path.rpartition("/")[2] == name)
        if there:
            return f"no search path leads to {', '.join(there)}"
        return "neither the wheel, nor --sdk, nor every system with its platform tag has it"

    def check(self, edit: FileEdit) -> None:
        """Check one file."""
        found = self._loadings[edit.path].found
        direct: dict[str, str] = {}
        for old, library in edit.needs.libraries.items():
            taken = found.get((edit.path, library.name))
            if taken != library.path:
                self.faults.append(f"{edit.path} finds {taken or 'nothing'} for {library.name}, not {library.path}")
            direct[old] = library.path
        scope = [symbols for path in dict.fromkeys(found.values()) if path and (symbols := self._symbols(path))]
        of_sdk = [path for path in dict.fromkeys(found.values()) if path and path in self._sdk]
        # All symbols of libraries that every system has, glibc's and GCC's, have versions.
        needed = self._package.linked[edit.path].needed
        is_closed = all(found.get((edit.path, name)) or is_system_library(name) for name in needed)
        unproven = []
        for symbol in self._own[edit.path].needed:
            if symbol.library is not None:
                self._check_versioned(edit.path, symbol, direct.get(symbol.library))
            elif any(one.defines(symbol.name) for one in scope):
                self.count += any(self._sdk[path].defines(symbol.name) for path in of_sdk)
            elif not self._is_supplied(symbol):
                said = self._lost(symbol.name)
                if said or is_closed:
                    names = ", ".join(library.name for library in edit.needs.libraries.values())
                    self.faults.append(f"{edit.path} needs {symbol.name}, and {said or f'none of {names} has it'}")
                else:
                    unproven.append(symbol.name)
        if unproven:
            self.unproven[edit.path] = tuple(unproven)

    def check_other(self, path: str) -> None:
        """Check a file that stays as it is, and may use a copy that others have loaded."""
        for symbol in self._own[path].needed:
            if symbol.library is None and not self._is_supplied(symbol):
                said = self._lost(symbol.name)
                self.faults += [f"{path} needs {symbol.name}, and {said}"] if said else []

    def _symbols(self, path: str) -> DynamicSymbols | None:
        return self._own.get(path) or self._sdk.get(path)

    def _check_versioned(self, path: str, symbol: NeededSymbol, library: str | None) -> None:
        """Check a symbol that names its library: nothing else may supply it."""
        if library is None or symbol.is_weak or self._may_lack(symbol.name):
            return
        symbols = self._sdk[library]
        has_versions = any(versions != {""} for versions in symbols.defined.values())
        if symbols.defines(symbol.name, symbol.version if has_versions else None):
            self.count += 1
        else:
            there = ", ".join(sorted(symbols.defined.get(symbol.name, ())))
            but = f"has it in version {there}" if there else "lacks it"
            self.faults.append(f"{path} needs {symbol.name} in version {symbol.version}, and {library} {but}")

    def _is_supplied(self, symbol: NeededSymbol) -> bool:
        """Whether nobody has to supply a symbol, or the interpreter or another file of the wheel does."""
        if symbol.is_weak or _PYTHON.match(symbol.name) or self._may_lack(symbol.name):
            return True
        return any(one.defines(symbol.name) for one in self._kept)

    def _lost(self, name: str) -> str:
        """Say which library of the SDK lacks a symbol that the copy of it has, which is left out; `""` if none does."""
        having = [copy for path, copy in self._gone.items() if copy.library and self._own[path].defines(name)]
        if any(copy.library and self._has(copy.library.path, name) for copy in having):
            return ""
        return next((f"{copy.library.path} lacks it, which {copy.path} has" for copy in having if copy.library), "")

    def _has(self, path: str, name: str) -> bool:
        return path in self._sdk and self._sdk[path].defines(name)
