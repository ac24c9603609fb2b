"""Makes Debian packages for tests, without the tools of Debian.

write_deb(directory / "libx1.deb", file("usr/lib/x86_64-linux-gnu/libx.so.1", b"..."), link("usr/bin/x", "y"))
"""

import gzip
import io
import lzma
import tarfile
from collections.abc import Callable
from pathlib import Path

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {"": bytes, "gz": gzip.compress, "xz": lzma.compress}
COPYRIGHT = b"Permission is granted.\n"


def member(path: str, kind: bytes, mode: int = 0o644, target: str = "") -> tarfile.TarInfo:
    """Make a member of any kind, named as dpkg-deb names them."""
    made = tarfile.TarInfo(f"./{path}")
    made.type = kind
    made.mode = mode
    made.linkname = target
    return made


def file(path: str, content: bytes = b"", mode: int = 0o644) -> tuple[tarfile.TarInfo, bytes]:
    """Make a file."""
    made = member(path, tarfile.REGTYPE, mode)
    made.size = len(content)
    return made, content


def link(path: str, target: str) -> tuple[tarfile.TarInfo, bytes]:
    """Make a symbolic link."""
    return member(path, tarfile.SYMTYPE, 0o777, target), b""


def hard_link(path: str, target: str) -> tuple[tarfile.TarInfo, bytes]:
    """Make a hard link to an earlier file."""
    return member(path, tarfile.LNKTYPE, 0o644, f"./{target}"), b""


def directory(path: str) -> tuple[tarfile.TarInfo, bytes]:
    """Make a directory."""
    return member(path, tarfile.DIRTYPE, 0o755), b""


def copyright_of(package: str, text: bytes = COPYRIGHT) -> tuple[tarfile.TarInfo, bytes]:
    """Make the file with a package's licences."""
    return file(f"usr/share/doc/{package}/copyright", text)


def tar(members: tuple[tuple[tarfile.TarInfo, bytes], ...], compression: str) -> bytes:
    """Return a tar archive; `compression` is `gz`, `xz` or empty."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for one, content in members:
            archive.addfile(one, io.BytesIO(content))
    return COMPRESSIONS[compression](buffer.getvalue())


def write_deb(path: Path, *members: tuple[tarfile.TarInfo, bytes], compression: str = "xz") -> Path:
    """Write a package (deb(5)) with these members: an `ar` archive of a version and two tar archives."""
    control = file("control", b"Package: x\nVersion: 1\nArchitecture: amd64\nMaintainer: x <x@x>\nDescription: x\n")
    suffix = f".{compression}" if compression else ""
    parts = {
        "debian-binary": b"2.0\n",
        "control.tar.gz": tar((control,), "gz"),
        f"data.tar{suffix}": tar(members, compression),
    }
    with path.open("wb") as output:
        output.write(b"!<arch>\n")
        for name, content in parts.items():
            output.write(f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode())
            output.write(content + b"\n" * (len(content) % 2))
    return path
