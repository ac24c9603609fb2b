"""The proof of a promotion: for each file of a release, from which file it came, and each member before and after."""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

from packaging.utils import NormalizedName
from packaging.version import Version

from lib.common.documents import to_document
from lib.common.program import ToolError
from wheels.channel.local_files import LocalFile
from wheels.channel.model import File
from wheels.common.members import read_members

FORMAT: Final = 1
SAME: Final = "same"
REWRITTEN: Final = "rewritten"
BUILT: Final = "built"


@dataclass(frozen=True)
class MemberProof:
    """A member of a file."""

    sparse: ClassVar = True
    path: str
    """In the release; in the candidate, if the release lacks it."""
    before: str = ""
    """SHA-256 of its content in the candidate; left out if it is not there, as `after` is."""
    after: str = ""
    why: str = ""
    """Why it differs; left out if it does not."""


@dataclass(frozen=True)
class FileProof:
    """A file of a release."""

    sparse: ClassVar = True
    kind: str
    """`same`, `rewritten` or `built`."""
    candidate: str
    before: str
    """SHA-256 of the candidate's file."""
    after: str
    """SHA-256 of the release's file."""
    members: tuple[MemberProof, ...] = ()
    """All of them, unless the file is the same."""


@dataclass(frozen=True)
class Proof:
    """The document."""

    stream: str
    """Of the candidate."""
    version: str
    to: str
    """Stream of the release."""
    release: str
    """Its version."""
    files: Mapping[str, FileProof] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {"format": FORMAT, **to_document(Proof, self)}

    def write(self, folder: Path) -> LocalFile:
        """Write it; return what goes into the store."""
        path = folder / f"promotion-{self.release}.json"
        content = (json.dumps(self.document(), indent=1, ensure_ascii=False) + "\n").encode()
        path.write_bytes(content)
        sha256 = hashlib.sha256(content).hexdigest()
        file = File(path.name, len(content), sha256, "", "", NormalizedName(""), Version(self.release))
        return LocalFile(path, file, "")


def _digests(path: Path) -> dict[str, tuple[str, str]]:
    """Return path and SHA-256 of each member by the path without the version that its first directory may have.

    For a wheel it is what RECORD says: when the wheel was read, all its files were as RECORD says.
    """
    found = {}
    is_wheel = path.name.endswith(".whl")
    for name, member in read_members(path, trust_record=True).items():
        top, _, rest = name.partition("/")
        kind = top.rpartition(".")[2] if is_wheel else "sdist"
        key = f"*.{kind}/{rest}" if kind in ("dist-info", "data", "sdist") else name
        if member.sha256:
            found[key] = name, member.sha256
    return found


def compare(candidate: LocalFile, release: LocalFile, named: Collection[str] | None = None) -> FileProof:
    """Return the proof of a file that differs from the candidate's.

    `named` are the members that the promoter named of a rewritten wheel; None for a file that was built again. Raises
    ToolError if a member differs that was copied.
    """
    before, after = _digests(candidate.source), _digests(release.source)
    members = []
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key, ("", "")), after.get(key, ("", ""))
        why = "" if old[1] == new[1] else _why(key, old[0], named)
        if why is None:
            raise ToolError(f"{release.source}: {new[0]} differs from {candidate.source.name}. Report this bug")
        members.append(MemberProof(new[0] or old[0], old[1], new[1], why))
    kind = BUILT if named is None else REWRITTEN
    return FileProof(kind, candidate.file.filename, candidate.file.sha256, release.file.sha256, tuple(members))


def _why(key: str, path: str, named: Collection[str] | None) -> str | None:
    if named is None:
        return "built again with the version of the release"
    if key == "*.dist-info/METADATA":
        return "has the version of the release, and requires the packages of the release"
    if key == "*.dist-info/RECORD":
        return "lists the other members"
    return "named by --rewrite: the version of the release as text" if path in named else None
