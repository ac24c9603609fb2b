"""Unpacking the archive of the devel package.

Its members are named relative to site-packages and all lie in the devel tree: regular files, directories, and symbolic
links. A link that leads out of the tree stands for a file of a runtime package. Only files and directories are made;
links are left to `links`, so no member can be written through one.

A plain archive is read twice, first the headers, then the contents. So a broken one is known, and the space that is
needed, before anything is written. A compressed one is read once, and tells no more than its size beforehand.
"""

from __future__ import annotations

import posixpath
import tarfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ..errors import DevelError
from ..progress import Report
from .files import COPY_BYTES, Directories, Member, write_file, write_files
from .space import Space, need_of
from .state import Content, parents_of

# What reading a broken archive raises.
READ_ERRORS: tuple[type[Exception], ...] = (tarfile.TarError, EOFError)
with suppress(ImportError):  # A Python without it says so in a TarError when it opens the archive.
    from lzma import LZMAError

    READ_ERRORS += (LZMAError,)

_BROKEN = "The package is broken: report this to those who built it."


@dataclass(frozen=True)
class ArchiveSource:
    """An archive, the directory and the tree in it that it is unpacked to, and what is told as that goes on.

    `widest_mode` has the permission bits that files and directories may have.
    `require_space` is called before anything is written, and raises if there is not enough; `report` with the position
    in the archive, in bytes.
    """

    archive: Path
    home: Path
    tree: str
    widest_mode: int
    require_space: Callable[[Space], None]
    report: Report


def unpack(source: ArchiveSource) -> Content:
    """Write the archive's files and directories; the tree must not exist. Return what the archive holds.

    Modes come from the archive, less the umask; directories stay writable for their owner. Raises DevelError for a
    member that is not allowed, one of READ_ERRORS for a broken archive, and OSError.
    """
    with open(source.archive, "rb") as stream:
        content = (_unpack_compressed if source.archive.suffix == ".xz" else _unpack_plain)(source, stream)
    links = content.symlinks.keys() | content.outward.keys()
    if above := sorted(links & parents_of([*content.files, *content.directories, *links])):
        raise DevelError(f"{source.archive}: {above[0]} is a link, and has members below it. {_BROKEN}")
    return content


def _unpack_plain(source: ArchiveSource, stream: IO[bytes]) -> Content:
    content = Content()
    with tarfile.open(fileobj=stream, mode="r:", encoding="utf-8") as tar:
        members = [_take(member, source, content) for member in _iterate(tar)]
        _check_end(tar, stream)
    source.require_space(need_of(content))
    made = [member for member in members if member is not None]
    directories = Directories(source.home, source.tree, source.widest_mode)
    for member in made:
        directories.make_for(member)
    write_files(source.home, source.archive, [member for member in made if not member.is_directory], source.report)
    return content


def _unpack_compressed(source: ArchiveSource, stream: IO[bytes]) -> Content:
    from .xz import uncompressed_size

    source.require_space(Space(uncompressed_size(stream), 0))
    content = Content()
    directories = Directories(source.home, source.tree, source.widest_mode)
    with tarfile.open(fileobj=stream, mode="r:xz", encoding="utf-8") as tar:
        for info in _iterate(tar):
            member = _take(info, source, content)
            if member is not None:
                directories.make_for(member)
                if not member.is_directory:
                    write_file(source.home, member, _extracted(source, stream, tar, info))
        while tar.fileobj is not None and tar.fileobj.read(COPY_BYTES):
            pass  # The checksums at the end of an xz stream are compared when it is read to there.
    return content


def _iterate(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    for member in tar:
        yield member
        tar.members = []  # type: ignore[attr-defined]  # tarfile keeps every member otherwise


def _check_end(tar: tarfile.TarFile, plain: IO[bytes]) -> None:
    """Raise tarfile.ReadError unless the members end with two zero blocks (POSIX pax): tarfile is content with less."""
    plain.seek(tar.offset)
    if plain.read(2 * tarfile.BLOCKSIZE) != bytes(2 * tarfile.BLOCKSIZE):
        raise tarfile.ReadError(f"damaged or cut short at byte {tar.offset}")


def _take(info: tarfile.TarInfo, source: ArchiveSource, content: Content) -> Member | None:
    """Put a member of the archive into `content` and return it if it is a file or a directory."""
    name = check_name(info.name, source.tree, source.archive)
    if info.isdir():
        content.directories.append(name)
    elif info.isreg() and not info.issparse():
        content.files[name] = info.size
    elif info.issym():
        _sort_link(name, info.linkname, source, content)
        return None
    else:
        raise DevelError(f"{source.archive}: {name} is neither a file, a directory nor a symbolic link. {_BROKEN}")
    return Member(name, info.mode & source.widest_mode, info.size, info.offset_data, info.isdir())


def check_name(name: str, tree: str, archive: Path) -> str:
    """Return the member name without a trailing slash; raises DevelError if it is not a plain path in the tree."""
    plain = name.rstrip("/")
    if posixpath.normpath(plain) != plain or not (plain == tree or plain.startswith(tree + "/")):
        raise DevelError(f"{archive}: member {name!r} is not a plain path inside {tree}/. {_BROKEN}")
    return plain


def _sort_link(name: str, text: str, source: ArchiveSource, content: Content) -> None:
    """Put a link where it belongs by what its text leads to, as a path relative to site-packages."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(name), text))
    if target == source.tree or target.startswith(source.tree + "/"):
        content.symlinks[name] = text
    elif text.startswith("/") or target == ".." or target.startswith("../") or "/" not in target:
        raise DevelError(f"{source.archive}: link {name} -> {text} leads out of the installed packages. {_BROKEN}")
    else:
        content.outward[name] = target


def _extracted(
    source: ArchiveSource, stream: IO[bytes], tar: tarfile.TarFile, info: tarfile.TarInfo
) -> Iterator[bytes]:
    """Yield a member's contents from a compressed archive, which can only be read in order."""
    file = tar.extractfile(info)
    left = info.size if file else 0
    while left and file:
        source.report(stream.tell())
        piece = file.read(min(COPY_BYTES, left))
        if not piece:
            raise EOFError(f"{info.name} is cut short")
        yield piece
        left -= len(piece)
