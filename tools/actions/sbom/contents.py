"""What a package holds of each artifact: how much, its digest, its licence texts.

An artifact comes as a folder, and its libraries are patched on the way into the package. So the digest is one over what
the package holds of it: the SHA-256 of the text that `sha256sum` prints for these files, sorted by path, each path
relative to the package's tree. The same can be made of an installed package, or of its RECORD.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from lib.pack.segment import Packed
from lib.plan.model import Plan
from tools.actions.link.license_texts import license_paths


@dataclass(frozen=True)
class Contents:
    """What a package holds of one artifact."""

    #: `{name}_{component}_{target}`.
    artifact: str
    #: How many files, and their bytes.
    files: int
    size: int
    #: Digest over the files, in hex.
    sha256: str
    #: Paths of its licence texts, in the package's tree.
    licenses: tuple[str, ...] = ()


def digest(packed: Iterable[Packed]) -> str:
    """Return the SHA-256 over the lines `{SHA-256}  {path}` of files, sorted by path, in hex."""
    lines = (f"{one.sha256}  {one.path}\n" for one in sorted(packed, key=lambda one: one.path))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def contents(plan: Plan, packed: dict[str, Packed], patterns: tuple[str, ...]) -> list[Contents]:
    """Return what a package holds of each artifact, sorted by name; artifacts that it holds nothing of are left out.

    `packed` has the packed files by path, `patterns` say which are licence texts.
    """
    texts = license_paths(plan, patterns)
    by_artifact: dict[str, list[Packed]] = {}
    for entry in plan.entries:
        if entry.is_packed_file:
            by_artifact.setdefault(entry.source.split("/")[0], []).append(packed[entry.path])
    return [
        Contents(
            artifact=artifact,
            files=len(files),
            size=sum(one.size for one in files),
            sha256=digest(files),
            licenses=tuple(one.path for one in files if one.path in texts),
        )
        for artifact, files in sorted(by_artifact.items())
    ]
