"""The set that the checks read: distributions as they are installed, side by side in one site-packages.

Paths are relative to site-packages, with `/` between their parts. `wheels.verify.wheel_set.gather` makes these records
from what the engine read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from packaging.requirements import Requirement
from packaging.tags import Tag
from packaging.version import Version

from lib.common.distributions import Distributions
from lib.pe.model import PeImage
from wheels.verify.model import FileFacts


@dataclass(frozen=True, slots=True)
class Linked:
    """View of a program or library by the dynamic loader (System V gABI, "Dynamic Linking").

    `rpath` is empty where there is a DT_RUNPATH: the loader then ignores DT_RPATH.
    """

    path: str
    elf_class: int
    machine: int
    soname: str | None = None
    needed: tuple[str, ...] = ()
    rpath: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()
    requires: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For each library that versioned symbols are needed from, their versions."""
    provides: frozenset[str] = frozenset()
    """The symbol versions that it defines; empty for a library without any."""
    opens: tuple[str, ...] = ()
    """Names of libraries among its constants, which it may open at run time, sorted."""
    is_forwarder: bool = False
    """Whether it stands for another name or place of the one library that it needs (`lib.pack.stand_ins`)."""


@dataclass(frozen=True)
class DevelTree:
    """Files of a development package below its tree, in the wheel or in an archive, and the links that are made there.

    `archive` is the path of the archive, or of the manifest that lists the links; `tree` is the tree's directory (empty
    for an archive without members).
    """

    archive: str
    tree: str
    files: Mapping[str, int]
    """Sizes in bytes, by path."""
    directories: frozenset[str] = frozenset()
    links: Mapping[str, str] = field(default_factory=dict)
    """Texts of links, by path: links to files of other packages become hard links."""
    linked: Mapping[str, Linked] = field(default_factory=dict)
    """Programs and libraries among `files`."""
    images: Mapping[str, PeImage] = field(default_factory=dict)
    """The same, of Windows."""
    damage: str = ""
    """Why it cannot be made; else empty."""


@dataclass(frozen=True)
class LinkManifest:
    """A list of links: `rules/runtime/devel_tree.py` makes them. `damage` says why it cannot be read; else empty."""

    path: str
    version: str = ""
    tree: str = ""
    links: Mapping[str, str] = field(default_factory=dict)
    """Texts, by paths below the development tree."""
    files: frozenset[str] = frozenset()
    """Paths of an archive's files."""
    damage: str = ""


@dataclass(frozen=True)
class Package:
    """A distribution of the set; `filename` is the wheel's or sdist's, `name` is as PEP 503 normalises it."""

    filename: str
    name: str
    version: Version
    tags: frozenset[Tag] = frozenset()
    requires: tuple[Requirement, ...] = ()
    extras: frozenset[str] = frozenset()
    external: tuple[str, ...] = ()
    """What the system must have, by its metadata: SONAMEs of libraries, among others."""
    files: Mapping[str, FileFacts] = field(default_factory=dict)
    elsewhere: Mapping[str, FileFacts] = field(default_factory=dict)
    """What is installed beside site-packages: the path below the place that its first part, in braces, names."""
    scripts: tuple[str, ...] = ()
    """Names of the programs that installers put beside the interpreter, sorted."""
    linked: Mapping[str, Linked] = field(default_factory=dict)
    devel: DevelTree | None = None
    offered: Mapping[str, str] = field(default_factory=dict)
    """Of a package for some GPUs or CPUs: files that the development tree links to, by their paths below that."""
    selector: Distributions | None = None
    """Of the distribution that users install: what it says about the packages that it selects."""
    is_wheel: bool = True
    is_windows: bool = False
    """Whether it is looked at as installed on Windows: see `wheels.verify.wheel_set.gather`."""
