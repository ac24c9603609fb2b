"""A bucket of artifacts as CI leaves one: an archive per artifact, with its SHA-256 beside it."""

import hashlib
import tarfile
from pathlib import Path

import zstandard

MANIFEST = "artifact_manifest.txt"


def pack(artifact: Path, archive: Path) -> None:
    """Pack a folder as `.tar.zst`, its manifest first, and write `.sha256sum` beside it."""
    with (
        archive.open("wb") as output,
        zstandard.ZstdCompressor(level=1).stream_writer(output) as stream,
        tarfile.open(fileobj=stream, mode="w|") as tar,
    ):
        tar.add(artifact / MANIFEST, MANIFEST)
        for path in sorted(artifact.iterdir()):
            if path.name != MANIFEST:
                tar.add(path, path.name)
    write_checksum(archive)


def write_checksum(archive: Path) -> None:
    """Write the file that `sha256sum` would."""
    with archive.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    archive.with_name(f"{archive.name}.sha256sum").write_text(f"{digest}  {archive.name}\n")


def make_bucket(artifacts: Path, run: Path) -> list[Path]:
    """Pack all artifacts of a directory into the directory of a run; return the archives."""
    run.mkdir(parents=True)
    archives = []
    for artifact in sorted(path for path in artifacts.iterdir() if (path / MANIFEST).is_file()):
        archive = run / f"{artifact.name}.tar.zst"
        pack(artifact, archive)
        archives.append(archive)
    return archives
