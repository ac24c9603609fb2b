"""Unpacks the archive of one artifact and writes the files of its repository, for the rule `artifact_archive`.

The artifact lies unpacked in `unpacked/` of the output directory. What is wrong with a folder, its scan says. Only
what could do harm, or would be lost on the way into the folder, is decided here: by names and kinds alone, before
anything is written. Every path is known then, and no member may lie below a member that is not a directory. So nothing
that is unpacked is ever reached through a link, and all that is written lies below the folder.

With anything that is wrong with the archive, nothing is written. The digest that a lock file gives the archive, which
Bazel has compared, is recorded with the artifact, for the bill of materials: of an archive that nothing locks, the
unpacked files are what counts, and wheels made of them are those that the folder gives.
"""

import os
import shutil
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from lib.common.arguments import read_arguments
from tools.fetch.catalog.archive import BLOCK, CHUNK, ArchiveStream, Limits, open_archive
from tools.fetch.catalog.catalog import report
from tools.fetch.catalog.names import MANIFEST_NAME, CatalogError, check_link, check_name, parse_name
from tools.fetch.catalog.repository import write_repository
from tools.fetch.catalog.scan import CAPABILITY, normal_mode, scan

#: Where the artifact lies in the repository, and below which Bazel is to see no packages.
UNPACKED = "unpacked"
_LIMITS = Limits()
_KINDS = {
    tarfile.CHRTYPE: "a character device",
    tarfile.BLKTYPE: "a block device",
    tarfile.FIFOTYPE: "a FIFO",
}


def members_of(archive: Path, stream: ArchiveStream) -> Iterator[tarfile.TarInfo]:
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
    """The members that were seen so far, and what each has to be so that it can be unpacked."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._count = 0
        self._size = 0
        #: Path -> the type of its member; None for a directory that only its members' paths name.
        self._types: dict[str, bytes | None] = {}

    def add(self, info: tarfile.TarInfo) -> None:
        """Check the next member, and set its path in the folder (empty for the folder itself), its mode and its link.

        Raises CatalogError if it may not be unpacked.
        """
        self._count_in(info)
        info.name = relative_path(info.name)
        info.mode, info.linkname = self._mode(info), self._link(info)
        if info.name:
            self._place(info)
        elif not info.isdir():
            raise CatalogError("the artifact's folder itself; expected a directory")

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

    def _mode(self, info: tarfile.TarInfo) -> int:
        """Return the mode of a file; refuse what is none, nor a directory or a link."""
        if info.issparse():
            raise CatalogError("a sparse file; expected a plain one. Pack it without --sparse")
        if not (info.isdir() or info.issym() or info.islnk() or (info.isreg() and info.size >= 0)):
            what = _KINDS.get(info.type, f"of type {info.type!r} and {info.size} bytes")
            raise CatalogError(f"{what}; expected a file, a directory or a link")
        if info.name == MANIFEST_NAME and not info.isreg():
            raise CatalogError("it lists the base directories, one a line; expected a file")
        if info.isdir() or info.issym():
            return info.mode
        # GNU tar's name of the attribute, and libarchive's.
        has_capabilities = any(key.endswith(f".xattr.{CAPABILITY}") for key in info.pax_headers)
        return normal_mode(info.mode, has_capabilities=has_capabilities)

    def _link(self, info: tarfile.TarInfo) -> str:
        """Return a link's text, or the path of the file that a hard link is another name of."""
        if info.issym():
            check_link(info.name, info.linkname, "the archive")
        if not info.islnk():
            return info.linkname
        try:
            target = relative_path(info.linkname)
        except CatalogError as error:
            raise CatalogError(f"a hard link to {info.linkname!r}: {error}") from None
        if self._types.get(target) not in (*tarfile.REGULAR_TYPES, tarfile.LNKTYPE):
            raise CatalogError(f"a hard link to {info.linkname!r}, which is not an earlier file of the archive")
        return target

    def _place(self, member: tarfile.TarInfo) -> None:
        parts = member.name.split("/")
        for ancestor in ("/".join(parts[:count]) for count in range(1, len(parts))):
            type_ = self._types.setdefault(ancestor, None)
            if type_ not in (tarfile.DIRTYPE, None):
                what = "a link" if type_ == tarfile.SYMTYPE else "a file"
                raise CatalogError(f"lies below {ancestor!r}, which is {what}")
        # A directory may come after what lies in it; anything else comes once.
        is_implied = member.name in self._types and self._types[member.name] is None
        if member.name in self._types and not (is_implied and member.isdir()):
            raise CatalogError("duplicate member name")
        self._types[member.name] = member.type


def unpack(archive: Path, folder: Path, limits: Limits, zstd: Path | None = None) -> None:
    """Unpack an archive into a folder that is not there yet.

    Links, hard links and empty directories are as in the archive, modes of files as `normal_mode` has them; owners,
    times and modes of directories are not kept. `zstd` is the decoder's library if it is not beside its module. Raises
    CatalogError if anything is wrong with the archive.
    """
    members, waiting = Members(limits), []
    folder.mkdir(parents=True)
    with open_archive(archive, limits, zstd) as stream:
        for info in members_of(archive, stream):
            name = info.name
            try:
                members.add(info)
            except CatalogError as error:
                raise CatalogError(f"{archive}: member {name!r}: {error}; refused, nothing was unpacked") from None
            # Only members with content are made at once: a million empty ones are refused before any of them was made.
            if info.isreg() and info.size:
                _make(archive, folder, info, stream)
            elif info.name:
                waiting.append(info)
        for member in waiting:
            _make(archive, folder, member, stream)


def _make(archive: Path, folder: Path, member: tarfile.TarInfo, stream: ArchiveStream) -> None:
    path = folder / member.name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if member.isdir():
            path.mkdir(exist_ok=True)
        elif member.issym():
            path.symlink_to(member.linkname)
        elif member.islnk():
            path.hardlink_to(folder / member.linkname)
        else:
            _write(archive, path, member, stream)
    except OSError as error:
        raise CatalogError(
            f"{archive}: member {member.name!r} cannot be written: {error.strerror}; nothing was unpacked"
        ) from None


def _write(archive: Path, path: Path, member: tarfile.TarInfo, stream: ArchiveStream) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "wb", buffering=0) as file:
        left = member.size
        while left:
            data = stream.read(min(left, CHUNK))
            if not data:
                raise CatalogError(f"{archive}: member {member.name!r}: truncated; replace it")
            file.write(data)
            left -= len(data)
        os.fchmod(descriptor, member.mode)


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule."""

    archive: Path  #: {name}_{component}_{target}.tar.zst, or of another suffix.
    artifact: str  #: The artifact's name.
    repository: str  #: Canonical name of the repository.
    output: Path  #: Directory of the repository.
    zstd: Path | None  #: The decoder's shared library, for .tar.zst.
    sha256: str = ""  #: The archive's SHA-256, in hex, if it is locked.
    max_members: int = _LIMITS.members  #: How many members the archive may have.
    max_bytes: int = _LIMITS.size  #: How many bytes it may unpack to.
    max_ratio: int = _LIMITS.ratio  #: How many bytes each of its bytes may become.


def write(args: Arguments) -> None:
    """Unpack the archive; write the repository. Raises CatalogError, whose message begins with the archive's path."""
    folder = args.output / UNPACKED / args.artifact
    try:
        unpack(args.archive, folder, Limits(args.max_members, args.max_bytes, args.max_ratio), args.zstd)
        artifact = scan(folder, parse_name(args.artifact, args.archive, "an archive"), args.repository)
        write_repository([artifact], args.output, what=args.archive.name, archive_sha256=args.sha256)
    except BaseException as error:
        shutil.rmtree(args.output / UNPACKED, ignore_errors=True)
        text = str(error).replace(f"{folder}/", "").replace(f"{folder}: ", "")
        if isinstance(error, CatalogError) and not text.startswith(str(args.archive)):
            raise CatalogError(f"{args.archive}: {text}") from None
        raise
    (args.output / ".bazelignore").write_text(UNPACKED + "\n", encoding="utf-8")


def main(argv: list[str]) -> int:
    """Unpack and scan; return 1, with one line on standard error when the archive cannot be used."""
    return report(lambda: write(read_arguments(Arguments, argv)))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
