"""Unpacks the archive of one artifact into a folder, wholly or not at all."""

import os
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from tools.fetch.catalog.archive import BLOCK, CHUNK, ArchiveStream, Limits, open_archive
from tools.fetch.catalog.members import ArchiveMember, MemberKind, Members
from tools.fetch.catalog.names import MANIFEST_NAME, CatalogError, check_name
from tools.fetch.catalog.scan import check_nothing_is_lost, parse_manifest, read_text


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
