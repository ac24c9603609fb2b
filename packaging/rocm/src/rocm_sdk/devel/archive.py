"""Unpacking the archive of the devel package.

Its members are named relative to site-packages and all lie in the devel tree: regular files, directories, and symbolic
links. A link that leads out of the tree stands for a file of a runtime package. Only files and directories are made
here; links are left to `links`, so no member can be written through one.
"""

from __future__ import annotations

import os
import posixpath
import tarfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

from ..errors import DevelError
from .state import Content

COPY_BYTES = 1 << 20

# What reading a broken archive raises.
READ_ERRORS: tuple[type[Exception], ...] = (tarfile.TarError, EOFError)
with suppress(ImportError):  # A Python without it says so in a TarError when it opens the archive.
    from lzma import LZMAError

    READ_ERRORS += (LZMAError,)

_BROKEN = "The package is broken: report this to those who built it."


def unpack(archive: Path, site: Path, tree: str) -> Content:
    """Write the archive's files and directories below `site`/`tree`, which must not exist; return what it holds.

    Modes come from the archive, less the umask; directories stay writable for their owner. Raises DevelError for a
    member that is not allowed, one of READ_ERRORS for a broken archive, and OSError.
    """
    content = Content()
    made = {tree}
    (site / tree).mkdir()
    compressed = archive.suffix == ".xz"
    with open(archive, "rb") as stream, tarfile.open(archive, "r:xz" if compressed else "r:", encoding="utf-8") as tar:
        plain = None if compressed else stream
        for member in tar:
            name = check_name(member.name, tree, archive)
            if member.isdir():
                _make_directory(site, name, member.mode, made)
                content.directories.append(name)
            elif member.isreg() and not member.issparse():
                _make_directory(site, posixpath.dirname(name), 0o777, made)
                _write_file(f"{site}/{name}", member, _read_file(tar, member, plain))
                content.files.append(name)
            elif member.issym():
                _sort_link(name, member.linkname, tree, content, archive)
            else:
                raise DevelError(f"{archive}: {name} is neither a file, a directory nor a symbolic link. {_BROKEN}")
            tar.members = []  # type: ignore[attr-defined]  # tarfile keeps every member otherwise
        _check_end(tar, plain)
    return content


def _check_end(tar: tarfile.TarFile, plain: IO[bytes] | None) -> None:
    """Raise tarfile.ReadError unless the members end with two zero blocks (POSIX pax): tarfile is content with less.

    An xz stream has checksums instead, which are compared when it is read to its end.
    """
    if plain is None:
        while tar.fileobj is not None and tar.fileobj.read(COPY_BYTES):
            pass
    elif os.pread(plain.fileno(), 2 * tarfile.BLOCKSIZE, tar.offset) != bytes(2 * tarfile.BLOCKSIZE):
        raise tarfile.ReadError(f"damaged or cut short at byte {tar.offset}")


def check_name(name: str, tree: str, archive: Path) -> str:
    """Return the member name without a trailing slash; raises DevelError if it is not a plain path in the tree."""
    plain = name.rstrip("/")
    if posixpath.normpath(plain) != plain or not (plain == tree or plain.startswith(tree + "/")):
        raise DevelError(f"{archive}: member {name!r} is not a plain path inside {tree}/. {_BROKEN}")
    return plain


def _sort_link(name: str, text: str, tree: str, content: Content, archive: Path) -> None:
    """Put a link where it belongs by what its text leads to, as a path relative to site-packages."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(name), text))
    if target == tree or target.startswith(tree + "/"):
        content.symlinks[name] = text
    elif text.startswith("/") or target == ".." or target.startswith("../") or "/" not in target:
        raise DevelError(f"{archive}: link {name} -> {text} leads out of the installed packages. {_BROKEN}")
    else:
        content.outward[name] = target


def _make_directory(site: Path, name: str, mode: int, made: set[str]) -> None:
    if name in made:
        return
    _make_directory(site, posixpath.dirname(name), 0o777, made)
    (site / name).mkdir(mode=mode & 0o777 | 0o700)
    made.add(name)


def _write_file(path: str, member: tarfile.TarInfo, blocks: Iterator[bytes]) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, member.mode & 0o777)
    with open(descriptor, "wb", buffering=0) as output:
        for block in blocks:
            rest = memoryview(block)
            while rest:
                rest = rest[output.write(rest) :]


def _read_file(tar: tarfile.TarFile, member: tarfile.TarInfo, plain: IO[bytes] | None) -> Iterator[bytes]:
    """Yield a member's contents; from `plain`, the archive itself, when it is not compressed: that is twice as fast."""
    source = None if plain else tar.extractfile(member)
    for start in range(0, member.size, COPY_BYTES):
        length = min(COPY_BYTES, member.size - start)
        if plain:
            block = os.pread(plain.fileno(), length, member.offset_data + start)
        else:
            block = source.read(length) if source else b""
        if len(block) != length:
            raise EOFError(f"{member.name} is cut short")
        yield block
