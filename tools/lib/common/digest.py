"""The digest file beside a distribution: link, sdist and static_wheel write it, index and size_report read it."""

from dataclasses import asdict, dataclass

from tools.lib.common.program import read_document, write_document


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
