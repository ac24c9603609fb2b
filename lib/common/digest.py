"""The digest file beside a distribution: link, sdist, static_wheel and describe write it, others read it."""

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path

from lib.common.program import read_document, write_document


@dataclass(frozen=True)
class Digest:
    """A distribution: its file name, its size in bytes, its SHA-256 in hex."""

    filename: str
    size: int
    sha256: str

    def write(self, path: str) -> None:
        """Write the digest file."""
        write_document(path, asdict(self))


def read_digest(path: str) -> Digest:
    """Read a digest file."""
    return Digest(**read_document(path))


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
