"""Writes the artifacts directory of an SDK: folders, or archives of each kind.

write_artifacts(sdk, folder, Variation(archive=".tar.xz"))
"""

import functools
import io
import lzma
import os
import shutil
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from develop.testing.device_sample import zstd_frame
from tests.pipeline.sdk import Artifact, Directory, Link, Node, Sdk


@dataclass(frozen=True)
class Variation:
    """What may not change a byte: how the artifacts lie on the disk, and in which order tools are told of them."""

    archive: str = ""
    """What archives of artifacts end with; empty for folders."""
    file_mode: int = 0o644
    program_mode: int = 0o755
    time: int = 1_700_000_000
    backwards: bool = False
    umask: int = 0o022
    quick: bool = False
    """Whether tools are called without params files, and without the one thread that they may start."""


def write_artifacts(sdk: Sdk, folder: Path, variation: Variation) -> None:
    """Write the artifacts directory."""
    folder.mkdir(parents=True)
    for artifact in sdk.artifacts[:: -1 if variation.backwards else 1]:
        write_artifact(artifact, folder, variation)


def write_artifact(artifact: Artifact, folder: Path, variation: Variation) -> None:
    """Write one artifact into the directory."""
    place = folder / artifact.name
    place.mkdir(parents=True)
    (place / "artifact_manifest.txt").write_text("".join(f"{base}\n" for base in artifact.bases), encoding="utf-8")
    for base, nodes in artifact.bases.items():
        (place / base).mkdir(parents=True, exist_ok=True)
        for path, node in list(nodes.items())[:: -1 if variation.backwards else 1]:
            write_node(place / base / path, node, variation)
    if variation.archive:
        _archive(place, variation)
        shutil.rmtree(place)


def write_node(path: Path, node: Node, variation: Variation) -> None:
    """Write a file, a link or a directory."""
    if isinstance(node, Directory):
        path.mkdir(parents=True, exist_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(node, Link):
        path.symlink_to(node.text)
        return
    path.write_bytes(node.content.build())
    path.chmod(variation.program_mode if node.executable else variation.file_mode)
    os.utime(path, (variation.time, variation.time))


def _archive(folder: Path, variation: Variation) -> None:
    """Write the archive of an artifact's folder beside it, its manifest first."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
        tar.add(folder / "artifact_manifest.txt", "artifact_manifest.txt")
        known: dict[bytes, str] = {}
        for path in sorted(folder.rglob("*"), reverse=variation.backwards):
            if path.name != "artifact_manifest.txt":
                _add(tar, path, str(path.relative_to(folder)), known)
    data = stream.getvalue()
    folder.with_name(folder.name + variation.archive).write_bytes(COMPRESSED[variation.archive](data))


def _add(tar: tarfile.TarFile, path: Path, name: str, known: dict[bytes, str]) -> None:
    """Add a path to an archive; a file of which there is an equal one, of equal mode, as a hard link to that."""
    info = tar.gettarinfo(path, name)
    if not info.isreg():
        tar.addfile(info)
        return
    data = path.read_bytes()
    first = known.setdefault(data + bytes([bool(info.mode & 0o100)]), name)
    if first != name:
        info.type, info.linkname, info.size = tarfile.LNKTYPE, first, 0
    tar.addfile(info, io.BytesIO(data) if info.isreg() else None)


def _gzip(data: bytes) -> bytes:
    compressor = zlib.compressobj(1, wbits=31)
    return compressor.compress(data) + compressor.flush()


#: What compresses an archive, by what its name ends with.
COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    ".tar.zst": zstd_frame,
    ".tar.gz": _gzip,
    ".tar.xz": functools.partial(lzma.compress, preset=0),
}
