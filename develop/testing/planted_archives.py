"""Makes archives for tests: of trees, and of members that no honest tool would write.

archive = plant(tmp_path / "a_lib_generic.tar.gz", [manifest(), file("stage/x", b"content")])
"""

import gzip
import io
import lzma
import stat
import tarfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from develop.testing.device_sample import zstd_frame
from tools.fetch.catalog.names import MANIFEST_NAME, archive_suffix

#: A member, and its content.
Planted = tuple[tarfile.TarInfo, bytes]

COMPRESS: Final[dict[str, Callable[[bytes], bytes]]] = {
    ".tar.gz": lambda data: gzip.compress(data, 1, mtime=0),
    ".tar.xz": lambda data: lzma.compress(data, preset=0),
    # Frames of at most 1 MiB: zstd has them one after the other where it works in parallel.
    ".tar.zst": lambda data: b"".join(zstd_frame(data[at : at + (1 << 20)]) for at in range(0, len(data), 1 << 20)),
}


def member(
    name: str, type_: bytes = tarfile.REGTYPE, content: bytes = b"", mode: int = 0o644, link: str = ""
) -> Planted:
    """Make a member of any type; of a link, `link` is the text."""
    info = tarfile.TarInfo(name)
    info.type, info.size, info.mode, info.linkname = type_, len(content), mode, link
    return info, content


def file(name: str, content: bytes = b"", mode: int = 0o644) -> Planted:
    """Make a file."""
    return member(name, content=content, mode=mode)


def directory(name: str, mode: int = 0o755) -> Planted:
    """Make a directory."""
    return member(name, tarfile.DIRTYPE, mode=mode)


def link(name: str, text: str) -> Planted:
    """Make a symbolic link."""
    return member(name, tarfile.SYMTYPE, mode=0o777, link=text)


def hard_link(name: str, target: str, mode: int = 0o644) -> Planted:
    """Make a hard link."""
    return member(name, tarfile.LNKTYPE, mode=mode, link=target)


def manifest(text: str = "stage\n") -> Planted:
    """Make the artifact's manifest."""
    return file(MANIFEST_NAME, text.encode())


def tar(members: Iterable[Planted], format_: int = tarfile.PAX_FORMAT) -> bytes:
    """Return the bytes of a tar archive."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=format_, encoding="utf-8", errors="surrogateescape") as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return data.getvalue()


def plant(path: Path, members: Iterable[Planted], format_: int = tarfile.PAX_FORMAT) -> Path:
    """Write an archive, compressed as its name says; return its path."""
    path.write_bytes(COMPRESS[archive_suffix(path.name)](tar(members, format_)))
    return path


def tree(folder: Path) -> dict[str, tuple[str, str, str]]:
    """Return every path below a folder with kind and mode, content or text, and which paths are one file."""
    found = {}
    inodes: dict[int, str] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        status = path.lstat()
        same = inodes.setdefault(status.st_ino, name)
        if path.is_symlink():
            found[name] = ("link", str(path.readlink()), same)
        elif path.is_dir():
            found[name] = (f"directory {stat.S_IMODE(status.st_mode):o}", "", same)
        else:
            found[name] = (f"file {stat.S_IMODE(status.st_mode):o}", path.read_bytes().hex(), same)
    return found
