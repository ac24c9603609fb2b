"""Unpacks Debian packages straight into artifacts, without root and without a copy of the package's own tree.

    unpacking = Unpacking(directory)
    for name, file in packages: unpacking.add(name, file)
    unpacking.finish()

Files are written as they are read, links at the end: only then is known where all that they lead to lies.
"""

import shutil
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lib.common.program import ToolError
from tools.fetch.debian.artifact_paths import (
    artifact_of,
    edited,
    is_text_to_mend,
    licence_of,
    licence_path,
    link_goal,
    link_text,
    relocated,
)
from tools.fetch.debian.table import VERSIONED, LayoutRule, rule_of

_DAMAGED = "the package is damaged; fetch the repository again"
#: What to do about a package of ROCm that does not fit.
ROCM_REMEDY = "leave the package out, or give its files another place in tools/fetch/debian/table.py"
#: What to do about a package of any other SDK.
PLAIN_REMEDY = "name the package in `system`, if the user's system may have it instead"


@dataclass(frozen=True)
class Link:
    """A symbolic link of a package, to be made when all files are there."""

    package: str
    rule: LayoutRule
    path: str
    text: str


@dataclass
class Unpacking:
    """Artifacts in the making."""

    directory: Path
    #: What becomes of a package.
    rule_of: Callable[[str], LayoutRule | None] = rule_of
    #: What to do about a package that does not fit beside the others.
    remedy: str = ROCM_REMEDY
    #: Artifact -> its base directories.
    bases: dict[str, set[str]] = field(default_factory=dict)
    #: Package -> the artifacts that have something of it.
    artifacts: dict[str, set[str]] = field(default_factory=dict)
    #: Package -> its licences, or the package that has them.
    licences: dict[str, bytes | str] = field(default_factory=dict)
    #: Path in a package -> path in the prefix, and the file itself.
    _files: dict[str, tuple[str, Path]] = field(default_factory=dict)
    _links: list[Link] = field(default_factory=list)
    #: Debian's name of a directory whose version is lost -> the link of that name.
    _versioned: dict[str, Link] = field(default_factory=dict)
    #: Path in the prefix -> the package that has it.
    _owners: dict[str, str] = field(default_factory=dict)

    def add(self, package: str, file: Path) -> None:
        """Unpack a package. Raises ToolError if it is damaged, or contains a file of another package."""
        rule = self.rule_of(package)
        if rule is None:
            raise ToolError(f"{package}: no rule for it in tools/fetch/debian/table.py; add one")
        # dpkg-deb knows every compression that packages come in.
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", file], stdout=subprocess.PIPE) as unpacker:
            assert unpacker.stdout
            try:
                with tarfile.open(fileobj=unpacker.stdout, mode="r|") as archive:
                    for member in archive:
                        self._member(package, rule, archive, member)
                unpacker.stdout.read()  # what pads the archive; dpkg-deb would die of a closed pipe
            except tarfile.TarError as error:
                raise ToolError(f"{file}: expected a Debian package ({error}); {_DAMAGED}") from None
        if unpacker.returncode:
            raise ToolError(f"{file}: dpkg-deb --fsys-tarfile failed with code {unpacker.returncode}; {_DAMAGED}")

    def _member(self, package: str, rule: LayoutRule, archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        path = member.name.removeprefix("./").rstrip("/")
        if path.startswith("/") or ".." in path.split("/"):
            raise ToolError(f"{package}: the member {member.name!r} leads out of the package; {_DAMAGED}")
        if member.isdir():
            return
        if owner := licence_of(path):
            is_text = member.isfile()
            self.licences[owner] = read(archive, member) if is_text else licence_of(link_goal(path, member.linkname))
        elif member.issym():
            self._links.append(Link(package, rule, path, member.linkname))
        elif new := relocated(path, rule):
            self._file(package, rule, path, new, archive, member)

    def _file(
        self, package: str, rule: LayoutRule, path: str, new: str, archive: tarfile.TarFile, member: tarfile.TarInfo
    ) -> None:
        place = self._place(package, rule, path, new)
        if member.islnk():
            linked = member.linkname.removeprefix("./")
            if linked not in self._files:
                raise ToolError(f"{package}: {path} is a hard link to {linked}, which no artifact has; {self.remedy}")
            place.hardlink_to(self._files[linked][1])
        elif member.isfile():
            if is_text_to_mend(path):
                place.write_bytes(edited(path, read(archive, member)))
            else:
                with place.open("xb") as output, extracted(archive, member) as content:
                    shutil.copyfileobj(content, output, 1 << 20)
            place.chmod(member.mode)  # Which the catalog normalises, or refuses.
        else:
            raise ToolError(f"{package}: {path} is neither a file, a directory nor a link; expected nothing else")
        self._files[path] = (new, place)
        if found := VERSIONED.match(path):
            self._versioned.setdefault(found["name"], Link(package, rule, path, found["plain"]))

    def _place(self, package: str, rule: LayoutRule, path: str, new: str) -> Path:
        """Return where a path of the prefix goes, with its directory made."""
        owner = self._owners.setdefault(new, package)
        artifact = artifact_of(path, rule)
        place = self.directory / artifact / rule.base / new
        if owner != package or place.is_symlink() or place.exists():
            raise ToolError(f"{package}: {path} goes to {new}, which {owner} has already; {self.remedy}")
        place.parent.mkdir(parents=True, exist_ok=True)
        self.bases.setdefault(artifact, set()).add(rule.base)
        self.artifacts.setdefault(package, set()).add(artifact)
        return place

    def finish(self) -> None:
        """Make the links, and add to each artifact the licences of the packages that it is made from."""
        for link in self._links:
            new = relocated(link.path, link.rule)
            goal = link_goal(link.path, link.text)
            moved = self._files[goal][0] if goal in self._files else relocated(goal, link.rule)
            # What leads out of all packages (/etc/alternatives) leads nowhere; what has moved onto itself is there.
            if new and moved and new != moved:
                self._place(link.package, link.rule, link.path, new).symlink_to(link_text(new, moved))
        for name, link in sorted(self._versioned.items()):
            self._place(link.package, link.rule, link.path, name).symlink_to(link.text)
        for package, artifacts in sorted(self.artifacts.items()):
            for artifact in sorted(artifacts):
                self._licence(package, artifact)

    def _licence(self, package: str, artifact: str) -> None:
        owners = [package]
        while isinstance(found := self.licences.get(owners[-1]), str) and found not in owners:
            owners.append(found)
        if not isinstance(found, bytes):
            raise ToolError(
                f"{package}: no licences in usr/share/doc/{owners[-1]}/copyright; add {owners[-1]} to `packages`, or "
                "remove it from `system`"
            )
        rule = self.rule_of(package)
        assert rule
        place = self.directory / artifact / rule.base / licence_path(package, artifact)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(found)
        place.chmod(0o644)


def extracted(archive: tarfile.TarFile, member: tarfile.TarInfo) -> "tarfile.ExFileObject":
    """Open a member that is a file."""
    content = archive.extractfile(member)
    assert isinstance(content, tarfile.ExFileObject)
    return content


def read(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    """Read a small member."""
    with extracted(archive, member) as content:
        return content.read()
