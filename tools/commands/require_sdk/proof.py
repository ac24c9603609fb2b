"""Proves that the planned wheel works with the SDK, as far as tables of ELF files tell.

rocm-verify's loader finds the libraries of each edited file in a site-packages with the wheel and the packages that it
requires. Then each symbol that the SDK's libraries must supply has to be there, in its version.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from packaging.utils import canonicalize_name

from tools.commands.require_sdk.needs import FileNeeds, matches, shown
from tools.commands.require_sdk.plan import FileEdit, RequiringWheel
from tools.commands.require_sdk.symbols import symbols_of
from tools.lib.common.program import ToolError
from tools.lib.elf.dynamic_symbols import DynamicSymbols, NeededSymbol
from tools.lib.elf.system_libraries import is_system_library
from verify.settings import Settings
from verify.wheel_set.closure import applies, by_name, closure
from verify.wheel_set.installation import install
from verify.wheel_set.linking import NOT_REQUIRED, VERSION, check_linking, system_names
from verify.wheel_set.loader import Loader, Missing
from verify.wheel_set.model import Package

#: Rules of rocm-verify that an edited file must not break.
RULES = frozenset((NOT_REQUIRED, VERSION))
#: Symbols of the interpreter, which loads extension modules.
_PYTHON = re.compile(r"_?Py")
#: The word that a symbol of C begins with: `hip` of `hipMalloc`, `__hipRegister` and `hip_x`.
_WORD = re.compile(r"_*([a-z]+)(?=[A-Z0-9_])")
#: The outermost namespace of a symbol of C++: its length, and its name (Itanium C++ ABI, 5.1).
_NAMESPACE = re.compile(r"_Z(?:T[ISTV])?N[KORV]*(\d+)")
#: Symbols of C++'s own library, which comes with any library of C++: `std`, `new` and `delete`, types of the language.
_STANDARD = re.compile(r"_Z(?:(?:T[ISV])?N?[KORV]*S[a-z]|[nd][wal]|T[ISV]P?K?[a-z]$)")
#: A library's own words begin at least one of so many of its symbols.
_OWN_WORD = 10


@dataclass(frozen=True)
class Proof:
    """What was proven."""

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
        linked=linked,
    )


def prove(plan: RequiringWheel, allow_missing: Collection[str] = ()) -> Proof:
    """Prove it. Raises ToolError, which names all that is missing; symbols that match `allow_missing` may be."""
    package = installed_package(plan)
    packages = (package, *plan.sdk.packages)
    edited = {edit.path for edit in plan.edits}
    faults = [
        f"{one.id} {one.rule.title}: {one.file} {one.said}"
        for one in check_linking(packages, by_name(packages), (), Settings())
        if one.wheel == package.filename and one.file in edited and one.rule in RULES
    ]
    faults += _contradictions(plan.sdk.packages)
    loader = install(closure(package, by_name(packages))).loader(system_names(package, Settings()))
    prover = _Prover(plan, package, loader, matches(allow_missing))
    for edit in plan.edits:
        prover.check(edit)
    for path in sorted(package.linked.keys() - edited):
        prover.check_other(path)
    faults += prover.faults
    if faults:
        raise ToolError(
            f"{plan.wheel.path}: does not fit this SDK:{shown(faults)}\nGive all wheels of the SDK that it was built "
            "with, or build it with this one. If another library supplies such a symbol: "
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

    def __init__(self, plan: RequiringWheel, package: Package, loader: Loader, may_lack: Callable[[str], bool]) -> None:
        files = plan.wheel.wheel.files
        places = {plan.wheel.wheel.installed(path): path for path in files}
        by_source = symbols_of(files, plan.wheel.path.name)
        self._own = {path: by_source.get(places[path] or path, DynamicSymbols()) for path in plan.package.linked}
        self._kept = [self._own[path] for path in package.linked]
        self._gone = {copy.path: copy for copy in plan.left_out}
        self._package, self._sdk, self._facts = package, plan.sdk.symbols, plan.sdk
        self._loader, self._may_lack = loader, may_lack
        self._known_words: dict[str, frozenset[str]] = {}
        self.faults: list[str] = []
        self.unproven: dict[str, tuple[str, ...]] = {}
        self.count = 0

    def check(self, edit: FileEdit) -> None:
        """Check one file."""
        loading, before = self._loader.load(edit.path), len(self.faults)
        found = loading.found
        direct: dict[str, str] = {}
        for old, library in edit.needs.libraries.items():
            taken = found.get((edit.path, library.name))
            if taken != library.path:
                self.faults.append(f"{edit.path} finds {taken or 'nothing'} for {library.name}, not {library.path}")
            direct[old] = library.path
        scope = [symbols for path in dict.fromkeys(found.values()) if path and (symbols := self._symbols(path))]
        of_sdk = [path for path in dict.fromkeys(found.values()) if path and path in self._sdk]
        others = [name for name in edit.needs.linked.needed if self._is_unknown(name, edit.needs)]
        unproven = []
        for symbol in self._own[edit.path].needed:
            if symbol.library is not None:
                self._check_versioned(edit.path, symbol, direct.get(symbol.library))
            elif any(one.defines(symbol.name) for one in scope):
                self.count += any(self._sdk[path].defines(symbol.name) for path in of_sdk)
            elif not self._is_supplied(symbol):
                said = self._attributed(symbol.name, edit.needs, direct, others)
                if said:
                    self.faults.append(f"{edit.path} needs {symbol.name}, and {said}")
                else:
                    unproven.append(symbol.name)
        if unproven:
            self.unproven[edit.path] = tuple(unproven)
        lacking = self._lacking(loading.missing, has_faults=len(self.faults) > before)
        self.faults[before:before] = [one for one in lacking if one not in self.faults]

    def _lacking(self, missing: Sequence[Missing], *, has_faults: bool) -> list[str]:
        """Return what libraries of the SDK do not find, unless the system may have it.

        It may if no wheel of the SDK has it, the SDK is whole, and all symbols are there.
        """
        return [
            f"{one.object} needs {one.name}, and "
            + (
                "does not find it, although --sdk has it"
                if one.name in self._facts.names
                else "no wheel of --sdk has it"
            )
            for one in missing
            if one.object in self._sdk and (one.name in self._facts.names or has_faults or not self._facts.is_whole)
        ]

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

    def _is_unknown(self, name: str, needs: FileNeeds) -> bool:
        """Whether a needed library may have any symbols: all of glibc's and GCC's have versions."""
        return name in needs.system or (
            name not in needs.libraries
            and not is_system_library(name)
            and not any(name in (one.soname, path.rpartition("/")[2]) for path, one in self._package.linked.items())
        )

    def _attributed(self, name: str, needs: FileNeeds, direct: Mapping[str, str], others: Collection[str]) -> str:
        """Say which library of the SDK must have a symbol that none has; `""` if that cannot be known."""
        if lost := self._lost(name):
            return lost
        for path in direct.values():
            if _word(name) in self._words(path):
                return f"{path} lacks it"
        if not others and name.startswith("_Z") and not _STANDARD.match(name):  # The C library has none of these.
            return f"none of {', '.join(library.name for library in needs.libraries.values())} has it"
        return ""

    def _lost(self, name: str) -> str:
        """Say which library of the SDK lacks a symbol that the copy of it has, which is left out; `""` if none does."""
        having = [copy for path, copy in self._gone.items() if copy.library and self._own[path].defines(name)]
        if any(copy.library and self._has(copy.library.path, name) for copy in having):
            return ""
        return next((f"{copy.library.path} lacks it, which {copy.path} has" for copy in having if copy.library), "")

    def _has(self, path: str, name: str) -> bool:
        return path in self._sdk and self._sdk[path].defines(name)

    def _words(self, path: str) -> frozenset[str]:
        if path not in self._known_words:
            counts = Counter(word for word in map(_word, self._sdk[path].defined) if word)
            own = (word for word, count in counts.items() if count * _OWN_WORD >= counts.total())
            self._known_words[path] = frozenset(own)
        return self._known_words[path]


def _word(symbol: str) -> str:
    if symbol.startswith("_Z"):
        match = None if _STANDARD.match(symbol) else _NAMESPACE.match(symbol)
        return f"{symbol[match.end() : match.end() + int(match[1][:4])]}::" if match else ""
    match = _WORD.match(symbol)
    return match[1] if match else ""
