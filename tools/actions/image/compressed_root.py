"""Reads the tar of a root file system that gzip compressed, as `mmdebstrap … root.tar.gz` writes it, in one pass.

Some programs that take images expect layers to be compressed, such as `crane validate`. Such a tar is a layer as it is.
"""

import gzip
import hashlib
import tarfile
import zlib
from pathlib import Path
from typing import BinaryIO, Final, cast

from lib.common.program import ToolError

_MAGIC: Final = b"\x1f\x8b"
_BUFFER: Final = 1 << 20


class _Digested:
    """A file that is digested while it is read."""

    def __init__(self, file: gzip.GzipFile) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self.sha256.update(data)
        return data


def is_gzip(path: str) -> bool:
    """Whether a file begins as gzip's do (RFC 1952, 2.3.1)."""
    with Path(path).open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def inflated_sha256(path: str) -> str:
    """Return the SHA-256, in hex, of the tar that a file inflates to: the diffID of a layer with this file.

    Raises ToolError if the file is damaged, no tar, or an OCI image layout, which nobody can take blobs from.
    """
    try:
        with gzip.open(path) as file:
            digested = _Digested(file)
            with tarfile.open(fileobj=cast(BinaryIO, digested), mode="r|", bufsize=_BUFFER) as archive:
                names = {member.name.removeprefix("./") for member in archive}
            while digested.read(_BUFFER):
                pass
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise ToolError(
            f"{path}: cannot be read as a tar: {error}; expected an OCI image layout, as a directory or a tar, or the "
            "tar of a root file system, plain or by gzip. Name another base"
        ) from None
    if "oci-layout" in names:
        raise ToolError(f"{path}: a compressed OCI image layout; expected one that is not compressed. Decompress it")
    return digested.sha256.hexdigest()
