"""Writes a source distribution (PEP 517, PEP 643) of small files, the same bytes each time.

PKG-INFO is made here; all else is given.
"""

import hashlib
import io
import tarfile
from dataclasses import dataclass
from pathlib import Path

from lib.common.arguments import run_program
from lib.common.digest import Digest
from lib.common.program import ToolError, archive_time, read_document
from lib.wheel.deflated_run import GZIP_HEADER, join, small_run
from lib.wheel.metadata_writer import Project, core_metadata

#: The directory of the modules of an sdist: below it, they lie as in the wheel.
SOURCE = "src/"

#: The core metadata of an sdist, at its top (PEP 643).
PKG_INFO = "PKG-INFO"


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule. A `str` is the path of a file, unless its comment says otherwise."""

    label: str
    project: str  #: The distribution's metadata.
    description: str  #: The long description, in Markdown.
    sdist: str  #: Source distribution to write.
    metadata: str  #: Core metadata to write.
    digest: str  #: JSON file to write: filename, size, SHA-256.
    file: dict[str, str]  #: Files by their paths in the archive.


def archive(root: str, files: dict[str, bytes]) -> bytes:
    """Return an uncompressed tar archive (pax) of files below one directory, sorted."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in sorted(files.items()):
            member = tarfile.TarInfo(f"{root}/{name}")
            member.size, member.mtime, member.mode = len(content), archive_time(), 0o644
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def gzipped(content: bytes) -> bytes:
    """Compresses to gzip with an empty header."""
    member = join([small_run(content)])
    return GZIP_HEADER + b"".join(member.chunks()) + member.gzip_trailer()


def write(args: Arguments) -> None:
    """Write the sdist, its metadata and its digest."""
    files = {name: Path(path).read_bytes() for name, path in args.file.items()}
    project = Project.from_document(read_document(args.project))
    metadata = core_metadata(project, Path(args.description).read_text(encoding="utf-8"))
    if PKG_INFO in files:
        raise ToolError(
            f"{PKG_INFO}: is among the files; expected it not to be, since it is written here. Remove it from `files` "
            "and `sources`"
        )
    output = Path(args.sdist)
    content = gzipped(archive(output.name.removesuffix(".tar.gz"), files | {PKG_INFO: metadata.encode()}))
    output.write_bytes(content)
    Path(args.metadata).write_text(metadata, encoding="utf-8")
    Digest(output.name, len(content), hashlib.sha256(content).hexdigest()).write(args.digest)


def main(argv: list[str]) -> int:
    """Write the sdist."""
    return run_program(Arguments, argv, write)
