"""An index as data: the distributions that it lists, with fields of their core metadata.

    distribution = read_distribution("digest.json", "METADATA", directory="")
    Index("", (distribution,)).projects()

The distributions themselves are not read: their digests were taken when they were written.
"""

import hashlib
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import groupby
from pathlib import Path
from typing import Self
from urllib.parse import quote

from packaging.metadata import Metadata
from packaging.requirements import Requirement
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    NormalizedName,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import Version

from lib.common.digest import Digest, read_digest
from lib.common.program import ToolError
from lib.wheel.variant_format import index_name, merge_variants, split_label

#: Directory of the distributions that have an index of their own.
STATIC = "static"
#: What platform tags begin with, and the platforms.
_PLATFORMS = {"linux": "Linux", "manylinux": "Linux", "musllinux": "Linux", "win": "Windows"}


@dataclass(frozen=True)
class Need:
    """A requirement, and what is asked of it often."""

    requirement: Requirement
    project: NormalizedName
    extras: frozenset[str]
    """Normalised."""
    marker: str
    """Empty if it holds always."""

    @property
    def pinned(self) -> bool:
        """Whether it accepts one version only. Such requirements bring files that were withdrawn, too (PEP 592)."""
        return any(one.operator in ("==", "===") and "*" not in one.version for one in self.requirement.specifier)

    def __str__(self) -> str:
        """Write it without its marker."""
        return str(self.requirement).partition(";")[0].strip()


@lru_cache(maxsize=100_000)
def need(text: str) -> Need:
    """Read a requirement (PEP 508)."""
    one = Requirement(text)
    extras = frozenset(map(canonicalize_name, one.extras))
    return Need(one, canonicalize_name(one.name), extras, str(one.marker or ""))


@dataclass(frozen=True)
class Distribution:
    """One file of the index, and what its core metadata says."""

    filename: str
    #: In bytes.
    size: int
    #: Digests in hex, of the file and of its core metadata.
    sha256: str
    metadata_sha256: str
    #: Where it lies below the index: "" or the name of a directory.
    directory: str
    #: The project's normalised name (PEP 503).
    project: NormalizedName
    version: Version
    summary: str = ""
    #: Version specifier, "" for any.
    requires_python: str = ""
    license: str = ""
    requires: tuple[Requirement, ...] = ()
    extras: tuple[str, ...] = ()
    #: Fields that are only known when an sdist is built (PEP 643), in lower case.
    dynamic: tuple[str, ...] = ()
    #: Label and URL of the project's pages.
    urls: tuple[tuple[str, str], ...] = ()
    #: Path below the index, or URL, of a file that does not lie in `directory`.
    stored: str = ""
    #: Since when it is there, in seconds since 1970; None for all files alike.
    uploaded: int | None = None
    #: Why it was withdrawn (PEP 592); "" if it was not.
    yanked: str = ""
    #: SHA-256 of the provenance object beside it (PEP 740), in hex; "" if there is none.
    provenance_sha256: str = ""

    @cached_property
    def needs(self) -> tuple[Need, ...]:
        """Its requirements."""
        return tuple(need(str(one)) for one in self.requires)

    @property
    def label(self) -> str:
        """The label of a wheel variant, "" for all other files."""
        return split_label(self.filename)[1]

    @property
    def platform(self) -> str:
        """System that it runs on, by the platform tag of its name: `Linux`, `Windows`, or "" for any."""
        name = split_label(self.filename)[0]
        tag = name.removesuffix(".whl").rpartition("-")[2] if self.is_wheel else "any"
        return next((name for start, name in _PLATFORMS.items() if tag.startswith(start)), "")

    @property
    def is_wheel(self) -> bool:
        """Whether all fields of the core metadata are final: some of an sdist's are only known when it is built."""
        return self.filename.endswith(".whl")

    def address(self, page: str) -> str:
        """Return the URL of the file, relative to a page in the directory `page` of the index."""
        return _address(self.stored or posixpath.join(self.directory, self.filename), page)


@dataclass(frozen=True)
class VariantList:
    """The file that lists the wheel variants of a version, beside them."""

    #: Where the wheels lie below the index.
    directory: str
    #: The project's normalised name (PEP 503).
    project: NormalizedName
    filename: str
    content: bytes
    #: Their labels, sorted.
    labels: tuple[str, ...]
    #: Path below the index, or URL, of a file that does not lie in `directory`.
    stored: str = ""
    #: Since when it is there, in seconds since 1970; None for all files alike.
    uploaded: int | None = None

    @cached_property
    def sha256(self) -> str:
        """Its SHA-256 in hex."""
        return hashlib.sha256(self.content).hexdigest()

    def address(self, page: str) -> str:
        """Return the URL of the file, relative to a page in the directory `page` of the index."""
        return _address(self.stored or posixpath.join(self.directory, self.filename), page)


def _address(path: str, page: str) -> str:
    """Return a relative URL, unless it is a whole one.

    Also `+`, which versions may hold, is escaped: object stores take it for a space.
    """
    return path if "://" in path else quote(posixpath.relpath(path, page or "."))


@dataclass(frozen=True)
class Index:
    """A directory with pages, and what these list: files of this directory or of another."""

    directory: str
    #: Sorted by file name.
    distributions: tuple[Distribution, ...]
    #: Of the wheel variants among the distributions, sorted by file name.
    variants: tuple[VariantList, ...] = field(default=())

    @classmethod
    def of(cls, directory: str, distributions: Iterable[Distribution], variants: Iterable[VariantList] = ()) -> Self:
        """Make an index of distributions in any order, with the lists of those that are wheel variants."""
        listed = tuple(sorted(distributions, key=lambda one: one.filename))
        there = {(one.directory, one.project) for one in listed if one.label}
        own = (one for one in variants if (one.directory, one.project) in there)
        return cls(directory, listed, tuple(sorted(own, key=lambda one: one.filename)))

    @property
    def platforms(self) -> tuple[str, ...]:
        """The platforms that distributions are for, sorted. Distributions for any platform do not count."""
        return tuple(sorted({one.platform for one in self.distributions if one.platform}))

    def projects(self) -> dict[str, tuple[Distribution, ...]]:
        """Return the distributions of each project, both sorted by name."""
        ordered = sorted(self.distributions, key=lambda one: (one.project, one.filename))
        return {name: tuple(group) for name, group in groupby(ordered, key=lambda one: one.project)}


def indexes(distributions: Sequence[Distribution], variants: Sequence[VariantList] = ()) -> list[Index]:
    """Return the main index, and one for each directory that some distributions lie apart in: `static`, or a target.

    The main one does not list these: installers prefer a wheel to an sdist of the same version, and the local version
    of a split wheel to the fat one. The others list all other projects as well, so that one index serves.
    """
    main = Index.of("", [one for one in distributions if not one.directory], variants)
    found = [main]
    for directory in sorted({one.directory for one in distributions} - {""}):
        apart = [one for one in distributions if one.directory == directory]
        projects = {one.project for one in apart}
        others = [one for one in main.distributions if one.project not in projects]
        found.append(Index.of(directory, [*apart, *others], variants))
    return found


def read_distribution(digest: str, metadata: str, directory: str) -> Distribution:
    """Read what link or sdist wrote of a distribution: the digest, a JSON file, and the core metadata.

    Raises ToolError for metadata that does not validate, and where it names another project or version than the file.
    """
    return make_distribution(read_digest(digest), Path(metadata).read_bytes(), directory)


def make_distribution(file: Digest, content: bytes, directory: str) -> Distribution:
    """Return what an index says of a file with this core metadata; raises ToolError as `read_distribution` does."""
    project, version = parse_filename(file.filename)
    core = _parse_metadata(content, file.filename)
    named = (canonicalize_name(core.name), core.version)
    if named != (project, version):
        raise ToolError(
            f"{file.filename}: its core metadata is of {named[0]} {named[1]}; expected {project} {version}. "
            "Name the metadata that was written with the distribution"
        )
    return Distribution(
        filename=file.filename,
        size=file.size,
        sha256=file.sha256,
        metadata_sha256=hashlib.sha256(content).hexdigest(),
        directory=directory,
        project=project,
        version=version,
        summary=core.summary or "",
        requires_python=str(core.requires_python or ""),
        license=core.license_expression or core.license or "",
        requires=tuple(core.requires_dist or ()),
        extras=tuple(core.provides_extra or ()),
        dynamic=tuple(core.dynamic or ()),
        urls=tuple(sorted((core.project_urls or {}).items())),
    )


def list_variants(variants: Mapping[Distribution, bytes]) -> list[VariantList]:
    """Return the lists of wheel variants, given the `variant.json` of each; one for each version in a directory.

    Raises ToolError for variants that do not agree.
    """
    versions: dict[tuple[str, NormalizedName, Version], dict[str, bytes]] = {}
    for one, content in variants.items():
        versions.setdefault((one.directory, one.project, one.version), {})[one.filename] = content
    return [
        VariantList(
            directory,
            project,
            index_name(project, version),
            merge_variants(files),
            tuple(sorted({split_label(filename)[1] for filename in files})),
        )
        for (directory, project, version), files in versions.items()
    ]


def parse_filename(filename: str) -> tuple[NormalizedName, Version]:
    """Return a distribution's project and version; raises ToolError for a name that no installer would take."""
    try:
        if filename.endswith(".whl"):
            return parse_wheel_filename(split_label(filename)[0])[:2]
        return parse_sdist_filename(filename)
    except (InvalidWheelFilename, InvalidSdistFilename) as error:
        raise ToolError(
            f"{filename}: expected a file name of a wheel (PEP 427) or an sdist (PEP 625): {error}"
        ) from None


def _parse_metadata(content: bytes, filename: str) -> Metadata:
    try:
        return Metadata.from_email(content)
    except ExceptionGroup as group:
        faults = "; ".join(str(error) for error in group.exceptions)
        raise ToolError(f"{filename}: expected valid core metadata: {faults}. Mend the distribution's rule") from None
