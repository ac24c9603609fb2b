"""What the ELF files of a package need of the system, from its plan and the facts about its files.

Only what is packed counts. A library that the package or one that it builds on holds is no need of the system's,
whichever symbol versions are needed of it: it is built with them.
"""

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tools.common.documents import read_document
from tools.plan.model import LIBRARY, PROGRAM, Plan, Treatment
from tools.plan.patterns import matches


@dataclass(frozen=True)
class Linked:
    """What `tools.inspect` found out about one ELF file, as far as the loader will ask for it."""

    machine: int
    needed: tuple[str, ...] = ()
    #: SONAME -> symbol versions needed of that library.
    versions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


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

    #: ELF programs and libraries that were looked at.
    files: int = 0
    #: Of libraries that the system must have.
    system: tuple[Need, ...] = ()
    #: Of libraries of this package and those that it builds on.
    packaged: tuple[Need, ...] = ()
    #: Of libraries that are declared to be the machine's matter.
    external: tuple[Need, ...] = ()
    #: Paths of ELF programs and libraries for other architectures.
    foreign: tuple[str, ...] = ()


def read_linked(paths: Iterable[str]) -> dict[str, Linked]:
    """Read the facts of all units: source -> what an ELF program or library is linked to."""
    linked = {}
    for path in paths:
        for source, facts in read_document(path)["files"].items():
            if facts["type"] in (LIBRARY, PROGRAM):
                versions = {name: tuple(found) for name, found in facts.get("versions_needed", {}).items()}
                linked[source] = Linked(facts["machine"], tuple(facts.get("needed", ())), versions)
    return linked


def library_names(plans: Iterable[Plan]) -> frozenset[str]:
    """Return the names under which packages hold libraries: file names, for which the loader looks."""
    return frozenset(
        posixpath.basename(entry.path)
        for plan in plans
        for entry in plan.entries
        if entry.treatment in (Treatment.FORWARDER, Treatment.LINK_TO)
        or (entry.type == LIBRARY and entry.is_packed_file)
    )


def linked_entries(plan: Plan, linked: Mapping[str, Linked]) -> Iterator[tuple[str, Linked]]:
    """Yield path and facts of each ELF program and library that a package packs.

    Launchers and forwarders are made by us and need nothing of the system; their source is another file.
    """
    for entry in plan.entries:
        facts = linked.get(entry.source)
        if facts and entry.treatment in (Treatment.KEEP, Treatment.PATCH, Treatment.COPY_OF_LINK):
            yield entry.path, facts


def has_elf(plan: Plan, linked: Mapping[str, Linked]) -> bool:
    """Whether a package packs an ELF program or library of its artifacts."""
    return any(True for _ in linked_entries(plan, linked))


def collect(
    plan: Plan, builds_on: Iterable[Plan], linked: Mapping[str, Linked], machine: int, externals: tuple[str, ...]
) -> Needs:
    """Return what the packed files of a plan need.

    `machine` is the e_machine that counts, `externals` are patterns of SONAMEs. Of the files that need one thing, the
    first by path stands for all.
    """
    names = library_names([plan, *builds_on])
    files, foreign = 0, []
    needs: dict[tuple[str, str], Need] = {}
    for path, facts in linked_entries(plan, linked):
        if facts.machine != machine:
            foreign.append(path)
            continue
        files += 1
        for name in facts.needed:
            needs.setdefault((name, ""), Need(name, None, path))
        for name, versions in facts.versions.items():
            for version in versions:
                needs.setdefault((name, version), Need(name, version, path))
    ordered = [need for _, need in sorted(needs.items())]
    external = [need for need in ordered if need.library not in names and matches(need.library, externals)]
    return Needs(
        files=files,
        system=tuple(need for need in ordered if need.library not in names and need not in external),
        packaged=tuple(need for need in ordered if need.library in names),
        external=tuple(external),
        foreign=tuple(foreign),
    )
