"""The words of a plan: entries, treatments, and the documents that hold them.

Paths are relative: an entry's `path` to the package's tree (and so to the install
prefix), a `source` to the artifacts directory (`{artifact}/{base directory}/{path}`).
"""

import enum
import functools
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lib.common.program import ToolError
from lib.elf.platforms import CPUS, WINDOWS_CPUS
from lib.gpus.paths import loads, named
from lib.plan.edits import Record, with_tuples

#: What the bytes of a file are, of the types that `tools.actions.inspect` tells apart.
LIBRARY = "elf-library"
PROGRAM = "elf-program"
SCRIPT = "script"
#: A DLL and an EXE of Windows.
PE_LIBRARY = "pe-library"
PE_PROGRAM = "pe-program"
#: An offload bundle that is a file by itself.
BUNDLE = "gpu-bundle"


class Kind(enum.StrEnum):
    """Kind of an entry of an artifact."""

    FILE = "file"
    LINK = "link"
    DIRECTORY = "directory"
    #: No artifact has the path: the package makes it.
    NOTHING = "nothing"


class Treatment(enum.StrEnum):
    """Way in which an entry is packaged."""

    KEEP = "keep"
    PATCH = "patch"
    COPY_OF_LINK = "copy of link"
    LAUNCHER = "launcher"
    FORWARDER = "forwarder"
    ALIAS_OF = "alias of"
    LINK_TO = "link to"
    #: For other GPUs than the package is: a package beside it has the file, or none, because it is left out.
    OTHER_TARGET = "other target"
    DROP = "drop"


#: Those whose bytes are an artifact's, as they are or edited, and those whose bytes pack makes.
COPIES = frozenset({Treatment.KEEP, Treatment.PATCH, Treatment.COPY_OF_LINK})
MADE = frozenset({Treatment.LAUNCHER, Treatment.FORWARDER})
#: Treatments whose result is in the package as bytes.
PACKED = COPIES | MADE
#: Treatments of what is not in the package, under no name.
LEFT_OUT = frozenset({Treatment.OTHER_TARGET, Treatment.DROP})
#: Treatments of other names of a library that is packed under its SONAME: the devel tree has them as links.
OTHER_NAMES = frozenset({Treatment.ALIAS_OF, Treatment.FORWARDER})

#: Where packages run, if not on Linux.
WINDOWS = "windows"

#: How the reason of a dropped link begins that leads nowhere.
DANGLES = "link that dangles"

#: CPUs whose programs a launcher can start: i386 and those that packages are made for, by the numbers of ELF (e_machine
#: of the gABI) and of PE (Machine). Others are firmware.
LAUNCHED = frozenset({3, 0x14C}).union((cpu.elf_machine for cpu in CPUS), (cpu.pe_machine for cpu in WINDOWS_CPUS))


def is_executable(mode: str) -> bool:
    """Whether permission bits, octal, let the owner execute a file."""
    return bool(int(mode, 8) & stat.S_IXUSR)


@dataclass(frozen=True)
class Entry(Record):
    """One path of a package: what the artifact has there, what becomes of it, and why."""

    path: str
    kind: Kind
    treatment: Treatment
    reason: str
    #: Where the bytes come from; for what pack makes or a dropped entry, where the entry itself does, or, if no
    #: artifact has it, the library that it forwards to.
    source: str
    #: Permission bits, octal.
    mode: str = "0644"
    #: Text of the link that the artifact has here.
    link: str | None = None
    #: What ALIAS_OF, LINK_TO and what pack makes point to, relative to the entry's directory.
    target: str | None = None
    #: Entries of the search path that the ELF file gets; None leaves the file as it is.
    rpath: tuple[str, ...] | None = None
    #: GPU targets whose device code is kept; None keeps the code for all.
    slice: tuple[str, ...] | None = None
    #: The targets of `slice` for which the file has no code.
    absent: tuple[str, ...] | None = None
    #: What the bytes are, as `tools.actions.inspect` says.
    type: str | None = None
    #: DT_SONAME of the bytes.
    soname: str | None = None
    #: CPU of a program or library (e_machine of ELF, Machine of PE), of what a launcher starts, or that a forwarder is
    #: made for.
    machine: int | None = None
    #: Subsystem of a PE program, or of what a launcher starts.
    subsystem: int | None = None
    #: Versions of symbols that a forwarder of a SONAME defines.
    versions: tuple[str, ...] | None = None

    @property
    def is_packed_file(self) -> bool:
        """Whether the package holds bytes at this path."""
        return self.treatment in PACKED and self.kind is not Kind.DIRECTORY

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> "Entry":
        """Read what `to_document` wrote."""
        kind, treatment = Kind(document["kind"]), Treatment(document["treatment"])
        return cls(**with_tuples(document) | {"kind": kind, "treatment": treatment})


@dataclass(frozen=True)
class Planned:
    """Planned entries of a package, sorted by path, and the condition that they depend on."""

    entries: list[Entry]
    #: Pairs of sources that are to be compared: (packed, left out because it is the same).
    equal_sources: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """Plan for every entry of a package."""

    package: str
    #: Directory in site-packages that stands for the install prefix.
    tree: str
    #: Whether the package is one of several that users choose from by GPU target.
    per_target: bool
    entries: tuple[Entry, ...] = ()
    #: Pairs of sources that must be equal, because one stands for the other: (kept, left out).
    equal_sources: tuple[tuple[str, str], ...] = ()
    #: Of a devel package: the trees of the packages by GPU target that it links to where they are installed.
    target_trees: tuple[str, ...] = ()

    def to_document(self) -> dict[str, Any]:
        """Return the plan as JSON data."""
        return {
            "package": self.package,
            "tree": self.tree,
            "per_target": self.per_target,
            "entries": [entry.to_document() for entry in self.entries],
            "equal_sources": [list(pair) for pair in self.equal_sources],
            **({"target_trees": list(self.target_trees)} if self.target_trees else {}),
        }

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> "Plan":
        """Read what `to_document` wrote."""
        return cls(
            package=document["package"],
            tree=document["tree"],
            per_target=document["per_target"],
            entries=tuple(Entry.from_document(entry) for entry in document["entries"]),
            equal_sources=tuple((kept, dropped) for kept, dropped in document["equal_sources"]),
            target_trees=tuple(document.get("target_trees", ())),
        )


@dataclass(frozen=True)
class Slice:
    """For which GPU targets a package is, of a set of packages that are made from the same artifacts."""

    targets: tuple[str, ...]
    #: The targets of all packages of the set.
    all_targets: tuple[str, ...]
    #: Targets whose code, which artifacts have, no package of the set is for.
    left_out: tuple[str, ...] = ()
    #: The command-line option that sets `left_out`, if the packages have one: errors name it instead.
    left_out_option: str = ""

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> "Slice":
        """Read what the rule wrote."""
        return cls(**with_tuples(document))

    def can_load_any(self, code: str, targets: Iterable[str]) -> bool:
        """Whether a GPU of one of the targets loads some code. Raises ToolError for a malformed name."""
        try:
            return any(loads(code, target) for target in targets)
        except ValueError as error:
            raise ToolError(f"{error}. It cannot be told which GPUs load such code") from None

    def named(self, path: str) -> tuple[str, ...]:
        """Return the targets that a path says that its file is for. Raises ToolError for a malformed name."""
        try:
            return named(path, self.all_targets + self.left_out)
        except ValueError as error:
            raise ToolError(f"{error}. It cannot be told which GPUs load such code") from None


@dataclass(frozen=True)
class Definition:
    """Definition of a package in a BUILD file."""

    package: str
    #: `runtime` (a tree of files alone) or `devel` (a tree with links, which are made on first use).
    kind: str
    tree: str
    per_target: bool = False
    #: `linux` or `windows`: where the package runs.
    platform: str = "linux"
    #: Glob patterns of paths: only these are taken (all if empty), and these are dropped.
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    #: Patterns, and directories of `rpath`, for which there may be no file.
    allow_unmatched: tuple[str, ...] = ()
    #: Whether the package may have no file of its artifacts.
    allow_empty: bool = False
    #: Directories that the loader searches: `tree/path`.
    rpath: tuple[str, ...] = ()
    #: None for a package that has the device code for all targets.
    slice: Slice | None = None

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> "Definition":
        """Read the JSON that the rule wrote."""
        fields = with_tuples(document)
        if fields.get("slice"):
            fields["slice"] = Slice.from_document(fields["slice"])
        return cls(**fields)


@dataclass(frozen=True)
class Facts:
    """Facts about one file, from `tools.actions.inspect`."""

    unit: str
    #: In bytes; None for a file that nobody looked at, because its name says that it is data.
    size: int | None
    type: str
    soname: str | None = None
    rpath: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()
    #: DT_NEEDED, and the versions of symbols that are needed of each: two builds of a library differ in them.
    needed: tuple[str, ...] = ()
    versions_needed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: Whether a file that needs none but the system's libraries may open others: it imports dlopen(3).
    opens: bool = False
    #: The versions of symbols that it defines, its own name first.
    versions_defined: tuple[str, ...] = ()
    dynamic: bool = False
    #: DLLs that are needed when a function of theirs is called, as PE names them.
    needed_late: tuple[str, ...] = ()
    #: CPU of an ELF file (e_machine) or PE image (Machine), and the latter's subsystem if it is a program.
    machine: int = 0
    subsystem: int = 0
    #: Why no RPATH can be given to an ELF program or library; None if one can.
    refusal: str | None = None
    #: Target IDs for which the file has device code, sorted.
    device: tuple[str, ...] = ()
    #: Of an archive of device code: the library that it was split off, as the archive names it -> target IDs.
    archive: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: Why its device code cannot be read; None if it can.
    device_refusal: str | None = None
    #: What is wrong with an ELF or PE file that cannot be read, or whose name alone says that it is one.
    damage: str | None = None

    @classmethod
    def from_document(cls, unit: str, document: dict[str, Any], platform: str = "linux") -> "Facts":
        """Read what `tools.actions.inspect` wrote about a file of `unit`; it says more than a plan needs.

        To a package for another platform than Windows, a DLL is data.
        """
        if platform != WINDOWS and document["type"].startswith("pe-"):
            document = {"size": document["size"], "type": "data"}
        values = {name: value for name, value in document.items() if name in cls.__dataclass_fields__}
        values["device"] = sorted(values.get("device", ()))  # by target ID the document has bytes, which are for people
        return cls(unit, **{"size": None} | with_tuples(values))


@dataclass(frozen=True)
class Found:
    """One entry of one artifact."""

    path: str
    kind: Kind
    source: str
    mode: str = "0644"
    link: str | None = None
    facts: Facts | None = None


@dataclass(frozen=True)
class Artifact:
    """An artifact's entries, in the order of its manifest."""

    name: str
    found: tuple[Found, ...] = field(default=())


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    expression = re.escape(pattern)
    expression = expression.replace(r"\*\*/", "(?:.*/)?").replace(r"/\*\*", "/.*").replace(r"\*\*", ".*")
    return re.compile(expression.replace(r"\*", "[^/]*").replace(r"\?", "[^/]"))


def matches(path: str, patterns: tuple[str, ...]) -> str | None:
    """Return the first pattern that the whole path matches."""
    return next((pattern for pattern in patterns if _compiled(pattern).fullmatch(path)), None)
