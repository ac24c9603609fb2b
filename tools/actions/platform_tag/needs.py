"""Finds what the programs and libraries of a package need of the system, from its plan and the facts about its files.

Only what is packed counts. If this package, or a package that it builds on, has a library where the loader looks for
it, the system need not have it. Its symbol versions do not count either: the files are built with this library.
What a DLL needs is found in whichever directory of the packages it is, because `rocm_sdk` loads it from there by its
full path; what a program for Windows needs, in its own directory alone. A report says it; link reads in that which
libraries users must have.
"""

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from lib.common.program import ToolError, read_document
from lib.plan.model import COPIES, LIBRARY, PE_LIBRARY, PE_PROGRAM, PROGRAM, Entry, Plan, Treatment, matches
from lib.wheel.platform_policy import WINDOWS_MACHINES
from tools.actions.plan.rpath import directory_of

#: The types of files that are linked to libraries.
LINKED = (LIBRARY, PROGRAM, PE_LIBRARY, PE_PROGRAM)


@dataclass(frozen=True)
class LinkedFacts:
    """Facts about one ELF file or PE image that concern the loader, from `tools.actions.inspect`."""

    machine: int
    needed: tuple[str, ...] = ()
    #: SONAME -> symbol versions needed of that library.
    versions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Where the loader looks for them, as the artifact has it: entries of DT_RUNPATH, else of DT_RPATH.
    searched: tuple[str, ...] = ()

    def wanted(self) -> Iterator[tuple[str, str | None]]:
        """Yield what is needed: each library, with None and with each of the symbol versions."""
        yield from ((name, None) for name in self.needed)
        yield from ((name, version) for name, versions in self.versions.items() for version in versions)


@dataclass(frozen=True)
class Need:
    """One thing that one file needs: a library, or one symbol version of it."""

    library: str
    #: None: the library itself.
    version: str | None
    #: Path of the file, in the package.
    path: str


@dataclass(frozen=True)
class Needs:
    """All that a package's files for one architecture need, by whose matter it is; sorted, each thing once."""

    #: Programs and libraries that were looked at.
    files: int = 0
    #: Of libraries that the system must have.
    system: tuple[Need, ...] = ()
    #: Of libraries of this package and those that it builds on.
    packaged: tuple[Need, ...] = ()
    #: Of such libraries, for files that do not search their directories: the loader takes the system's, or none.
    unreached: tuple[Need, ...] = ()
    #: Of libraries that are declared to be the machine's matter.
    external: tuple[Need, ...] = ()
    #: Paths of programs and libraries for other architectures.
    foreign: tuple[str, ...] = ()


def read_linked(paths: Iterable[str]) -> dict[str, LinkedFacts]:
    """Read the facts of all units: source -> what a program or library is linked to."""
    linked = {}
    for path in paths:
        for source, facts in read_document(path)["files"].items():
            if facts["type"] in LINKED:
                versions = {name: tuple(found) for name, found in facts.get("versions_needed", {}).items()}
                searched = tuple(facts.get("runpath") or facts.get("rpath", ()))
                needed = (*facts.get("needed", ()), *facts.get("needed_late", ()))
                linked[source] = LinkedFacts(facts["machine"], needed, versions, searched)
    return linked


def library_paths(plans: Iterable[Plan]) -> frozenset[str]:
    """Return where packages hold libraries: tree, directory, and the file name for which the loader looks.

    Names of DLLs have no case: theirs are in lower case.
    """
    return frozenset(
        posixpath.join(plan.tree, entry.path.lower() if entry.type == PE_LIBRARY else entry.path)
        for plan in plans
        for entry in plan.entries
        if entry.treatment in (Treatment.FORWARDER, Treatment.LINK_TO)
        or (entry.type in (LIBRARY, PE_LIBRARY) and entry.is_packed_file)
    )


def linked_entries(plan: Plan, linked: Mapping[str, LinkedFacts]) -> Iterator[tuple[Entry, LinkedFacts]]:
    """Yield entry and facts of each program and library that a package packs, and that is one on its platform.

    Launchers and forwarders are made by us and need nothing of the system; their source is another file.
    """
    for entry in plan.entries:
        facts = linked.get(entry.source)
        if facts and entry.treatment in COPIES and entry.type in LINKED:
            yield entry, facts


def has_linked(plan: Plan, linked: Mapping[str, LinkedFacts]) -> bool:
    """Whether a package packs a program or library of its artifacts."""
    return any(True for _ in linked_entries(plan, linked))


def _directories(tree: str, entry: Entry, facts: LinkedFacts) -> list[str]:
    """Return the directories, `tree/directory`, that the loader searches for what a packed file needs."""
    entries = facts.searched if entry.rpath is None else entry.rpath
    return [found for one in entries if (found := directory_of(tree, entry.path, one))]


def collect(
    plan: Plan,
    builds_on: Iterable[Plan],
    linked: Mapping[str, LinkedFacts],
    machine: int,
    externals: tuple[str, ...],
    *,
    is_devel: bool = False,
) -> Needs:
    """Return what the packed files of a plan need.

    `machine` is the e_machine or Machine that counts, `externals` are patterns of SONAMEs or of names of DLLs. Of the
    files that need one thing, the first by path stands for all. The tree of a devel package has links to the libraries
    of all packages.
    """
    is_windows = machine in WINDOWS_MACHINES.values()
    paths = library_paths([plan, *builds_on])
    names = {posixpath.basename(path) for path in paths}

    def whose(entry: Entry, name: str, directories: list[str]) -> str:
        is_anywhere = is_devel or entry.type == PE_LIBRARY
        if name in names and (is_anywhere or any(f"{directory}/{name}" in paths for directory in directories)):
            return "packaged"
        if matches(name, externals):
            return "external"
        return "unreached" if name in names else "system"

    files, foreign = 0, []
    found: dict[str, dict[tuple[str, str], Need]] = {}
    for entry, facts in linked_entries(plan, linked):
        if facts.machine != machine:
            foreign.append(entry.path)
            continue
        files += 1
        beside = posixpath.join(plan.tree, posixpath.dirname(entry.path).lower())
        directories = [beside] if is_windows else _directories(plan.tree, entry, facts)
        for name, version in facts.wanted():
            needs = found.setdefault(whose(entry, name, directories), {})
            needs.setdefault((name, version or ""), Need(name, version, entry.path))
    ordered = {kind: tuple(need for _, need in sorted(needs.items())) for kind, needs in found.items()}
    return Needs(files=files, foreign=tuple(foreign), **ordered)


#: Library -> symbol version -> the first file that needs it. The empty version is the library itself.
Libraries = dict[str, dict[str, str]]


@dataclass(frozen=True)
class TagReport:
    """Needs of a package's files on the system; docs/sdk/metadata.md describes the fields."""

    distribution: str
    #: The platform tag of the oldest systems that the files run on.
    lowest: str
    #: What the next older systems lack, a sentence each.
    because: list[str] = field(default_factory=list)
    #: Number of programs and libraries.
    files: int = 0
    system: Libraries = field(default_factory=dict)
    packaged: Libraries = field(default_factory=dict)
    unreached: Libraries = field(default_factory=dict)
    #: Those that the wheel declares in `externals`.
    external: Libraries = field(default_factory=dict)
    #: Paths of files for other architectures.
    foreign: list[str] = field(default_factory=list)

    def to_document(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> "TagReport":
        """Read a report. Raises ToolError for other JSON data."""
        try:
            return cls(**document)
        except TypeError as error:
            raise ToolError(f"expected the report of a platform tag: {error}") from None
