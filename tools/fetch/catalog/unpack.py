"""Unpacks the archive of one artifact into a folder, wholly or not at all."""

import os
import shutil
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import IO, Any, cast

from tools.fetch.catalog.archive import BLOCK, CHUNK, ArchiveStream, Limits, open_archive
from tools.fetch.catalog.names import MANIFEST_NAME, CatalogError, check_link, check_name
from tools.fetch.catalog.scan import CAPABILITY, check_nothing_is_lost, normal_mode, parse_manifest, read_text

# Which members of an archive may be unpacked: a decision by names and kinds alone, before anything is written.
#
# Every path is known before it is written, and no member may lie below a member that is not a directory. So nothing
# that is unpacked is ever reached through a link, and what is written lies below the directory that it is unpacked
# to.


class MemberKind(Enum):
    """What a member becomes."""

    FILE = auto()
    DIRECTORY = auto()
    LINK = auto()
    HARD_LINK = auto()


@dataclass(frozen=True)
class ArchiveMember:
    """One path to make, relative to the artifact's folder."""

    path: str
    kind: MemberKind
    #: Permission bits of a file.
    mode: int = 0
    #: Bytes of a file.
    size: int = 0
    #: Text of a link; of a hard link the path of the member whose content it has.
    target: str = ""


_TYPES = {
    tarfile.CHRTYPE: "a character device",
    tarfile.BLKTYPE: "a block device",
    tarfile.FIFOTYPE: "a FIFO",
}


def relative_path(name: str) -> str:
    """Return a member's name without `.` and empty parts; the empty string is the folder itself.

    Raises CatalogError if it is absolute, goes up, or holds what no manifest can.
    """
    check_name(name, "a member")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/"):
        raise CatalogError("an absolute path; expected one relative to the artifact's folder")
    if ".." in parts:
        raise CatalogError("'..' leads out of the artifact's folder; expected a path without it")
    return "/".join(parts)


class Members:
    """The members that were seen so far."""

    def __init__(self, archive: str, limits: Limits) -> None:
        self._archive = archive
        self._limits = limits
        self._count = 0
        self._size = 0
        #: Path -> the member; None for a directory that only its members' paths name.
        self._kinds: dict[str, MemberKind | None] = {}
        self._links: dict[str, str] = {}

    def add(self, info: tarfile.TarInfo) -> ArchiveMember | None:
        """Return what to make of the next member; None if that is the folder itself.

        Raises CatalogError, with the names of the archive and the member, if it may not be unpacked.
        """
        try:
            self._count_in(info)
            path = relative_path(info.name)
            member = self._member(info, path)
            if not path:
                if member.kind is not MemberKind.DIRECTORY:
                    raise CatalogError("the artifact's folder itself; expected a directory")
                return None
            self._place(member)
        except CatalogError as error:
            raise CatalogError(
                f"{self._archive}: member {info.name!r}: {error}; refused, nothing was unpacked"
            ) from None
        return member

    def add_base(self, base: str) -> str:
        """Return the path of a base directory, which from now on is there: TheRock's archives leave out empty ones.

        Raises CatalogError if it lies below what is not a directory.
        """
        path = relative_path(base)
        try:
            if self._kinds.get(path) not in (MemberKind.DIRECTORY, None):
                raise CatalogError("is a link" if self._kinds[path] is MemberKind.LINK else "is a file")
            if path not in self._kinds:
                self._place(ArchiveMember(path, MemberKind.DIRECTORY))
        except CatalogError as error:
            raise CatalogError(f"{self._archive}: base directory {base!r}: {error}; replace it") from None
        return path

    def check_links(self, bases: list[str]) -> None:
        """Refuse links that lead out of their base directory, by their text, or out of the folder; CatalogError."""
        roots = [f"{relative_path(base)}/" for base in bases]
        for path, target in self._links.items():
            root = max((root for root in roots if path.startswith(root)), key=len, default="")
            try:
                check_link(path.removeprefix(root), target, root.rstrip("/") or ".")
            except CatalogError as error:
                raise CatalogError(f"{self._archive}: member {path!r}: {error}") from None

    def _count_in(self, info: tarfile.TarInfo) -> None:
        self._count += 1
        self._size += max(info.size, 0) if info.isreg() else 0
        if self._count > self._limits.members:
            raise CatalogError(
                f"more than {self._limits.members} members, which is the limit; "
                "if that is right, set --repo_env=ARTIFACT_ARCHIVE_MAX_MEMBERS="
            )
        if self._size > self._limits.size:
            raise CatalogError(
                f"with it, files of {self._size} bytes, more than {self._limits.size}, which is the limit; "
                "if that is right, set --repo_env=ARTIFACT_ARCHIVE_MAX_BYTES="
            )

    def _member(self, info: tarfile.TarInfo, path: str) -> ArchiveMember:
        if info.isdir():
            return ArchiveMember(path, MemberKind.DIRECTORY)
        if info.issym():
            check_name(info.linkname, "the link's text")
            return ArchiveMember(path, MemberKind.LINK, target=info.linkname)
        # GNU tar's name of the attribute, and libarchive's.
        has_capabilities = any(key.endswith(f".xattr.{CAPABILITY}") for key in info.pax_headers)
        mode = normal_mode(info.mode, has_capabilities=has_capabilities)
        if info.islnk():
            return ArchiveMember(path, MemberKind.HARD_LINK, target=self._hard_link_target(info.linkname))
        if info.issparse():
            raise CatalogError("a sparse file; expected a plain one. Pack it without --sparse")
        if info.isreg() and info.size >= 0:
            return ArchiveMember(path, MemberKind.FILE, mode, info.size)
        what = _TYPES.get(info.type, f"of type {info.type!r} and {info.size} bytes")
        raise CatalogError(f"{what}; expected a file, a directory or a link")

    def _hard_link_target(self, name: str) -> str:
        try:
            target = relative_path(name)
        except CatalogError as error:
            raise CatalogError(f"a hard link to {name!r}: {error}") from None
        if self._kinds.get(target) not in (MemberKind.FILE, MemberKind.HARD_LINK):
            raise CatalogError(f"a hard link to {name!r}, which is not an earlier file of the archive")
        return target

    def _place(self, member: ArchiveMember) -> None:
        for ancestor in _ancestors(member.path):
            kind = self._kinds.setdefault(ancestor, None)
            if kind not in (MemberKind.DIRECTORY, None):
                what = "a link" if kind is MemberKind.LINK else "a file"
                raise CatalogError(f"lies below {ancestor!r}, which is {what}")
        # A directory may come after what lies in it; anything else comes once.
        is_implied = member.path in self._kinds and self._kinds[member.path] is None
        if member.path in self._kinds and not (is_implied and member.kind is MemberKind.DIRECTORY):
            raise CatalogError("duplicate member name")
        self._kinds[member.path] = member.kind
        if member.kind is MemberKind.LINK:
            self._links[member.path] = member.target


def _ancestors(path: str) -> list[str]:
    """Return the directories above a path, the outermost first."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def unpack(archive: Path, folder: Path, limits: Limits, zstd: Path | None = None) -> str:
    """Unpack an archive into a folder that is not there yet; return the archive's SHA-256, in hex.

    Links, hard links and empty directories are as in the archive, modes of files as `normal_mode` has them; owners,
    times and modes of directories are not kept. `zstd` is the decoder's library if it is not beside its module. Raises
    CatalogError if anything is wrong with the archive: then there is no folder, nor a part of it.
    """
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        with open_archive(archive, limits, zstd) as (stream, source):
            _Unpacking(archive, partial, limits).run(stream)
            digest = source.sha256()
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    partial.rename(folder)
    return digest


def members_of(archive: str, stream: ArchiveStream) -> Iterator[tarfile.TarInfo]:
    """Yield the members of a tar archive; raises CatalogError if it is no such, damaged, or does not end."""
    try:
        with tarfile.open(
            fileobj=cast("IO[bytes]", stream), mode="r:", encoding="utf-8", errors="surrogateescape"
        ) as tar:
            while info := tar.next():
                yield info
                cast("Any", tar).members = []  # Which it keeps, for seeking.
    except (tarfile.TarError, ValueError, RecursionError, OverflowError) as error:
        raise CatalogError(f"{archive}: expected a tar archive: {error}; replace it") from None
    if stream.last != bytes(BLOCK):  # tarfile takes a damaged header, and the end of the file, for the end, too.
        raise CatalogError(
            f"{archive}: truncated or corrupted: no valid header after {stream.tell() - len(stream.last)} bytes of "
            "content; replace it"
        )
    stream.finish()


class _Unpacking:
    """One archive on its way into a folder.

    Only members with content are made at once. The rest waits until the whole archive was read and checked: a
    million empty members are refused before any of them was made.
    """

    def __init__(self, archive: Path, folder: Path, limits: Limits) -> None:
        self._archive = archive
        self._folder = folder
        self._members = Members(str(archive), limits)
        self._waiting: list[ArchiveMember] = []

    def run(self, stream: ArchiveStream) -> None:
        for info in members_of(str(self._archive), stream):
            member = self._members.add(info)
            if member and member.size:
                self._make(member, stream)
            elif member:
                self._waiting.append(member)
        for member in self._waiting:
            self._make(member, stream)
        bases = self._bases()
        self._members.check_links(bases)
        for path in [self._members.add_base(base) for base in bases]:
            (self._folder / path).mkdir(parents=True, exist_ok=True)

    def _bases(self) -> list[str]:
        manifest = self._folder / MANIFEST_NAME
        where = f"{self._archive}: {MANIFEST_NAME}"
        if manifest.is_symlink() or not manifest.is_file():
            raise CatalogError(
                f"{self._archive}: no {MANIFEST_NAME} in it; each artifact lists its base directories there, one a "
                "line. Replace it, or move it out of the artifacts directory"
            )
        if manifest.stat().st_size > CHUNK:
            raise CatalogError(f"{where}: {manifest.stat().st_size} bytes; expected a list of directories, one a line")
        bases = parse_manifest(read_text(manifest, where), where)
        for base in bases:
            check_name(base, where)
        check_nothing_is_lost(self._folder, bases, where)
        return bases

    def _make(self, member: ArchiveMember, stream: ArchiveStream) -> None:
        path = self._folder / member.path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            match member.kind:
                case MemberKind.DIRECTORY:
                    path.mkdir(exist_ok=True)
                case MemberKind.LINK:
                    path.symlink_to(member.target)
                case MemberKind.HARD_LINK:
                    path.hardlink_to(self._folder / member.target)
                case MemberKind.FILE:
                    self._write(path, member, stream)
        except OSError as error:
            raise CatalogError(
                f"{self._archive}: member {member.path!r} cannot be written: {error.strerror}; nothing was unpacked"
            ) from None

    def _write(self, path: Path, member: ArchiveMember, stream: ArchiveStream) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with open(descriptor, "wb", buffering=0) as file:
            left = member.size
            while left:
                data = stream.read(min(left, CHUNK))
                if not data:
                    raise CatalogError(f"{self._archive}: member {member.path!r}: truncated; replace it")
                file.write(data)
                left -= len(data)
            os.fchmod(descriptor, member.mode)
