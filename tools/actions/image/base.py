"""Reads the image that another is based on: an OCI image layout, as a directory or a tar, or a root file system.

A layout is what `skopeo copy … oci:DIRECTORY` writes, and a tar of it what `oci-archive:` does. A root file system is a
tar as mmdebstrap or debootstrap makes it, plain or by gzip: it becomes one layer, as it is. Every byte that is taken is
digested first.
"""

import gzip
import hashlib
import json
import re
import tarfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from lib.common.program import ToolError
from tools.actions.image.blobs import INDEX, Blob
from tools.actions.layer.model import TAR, TAR_GZIP

#: Media types of the layers that a base may have: as they are, and as Docker calls the same.
LAYERS: Final = {
    TAR: TAR,
    TAR_GZIP: TAR_GZIP,
    "application/vnd.oci.image.layer.v1.tar+zstd": "application/vnd.oci.image.layer.v1.tar+zstd",
    "application/vnd.docker.image.rootfs.diff.tar.gzip": TAR_GZIP,
}
_INDEXES: Final = (INDEX, "application/vnd.docker.distribution.manifest.list.v2+json")
_DIGEST: Final = re.compile(r"sha256:([0-9a-f]{64})")
_CHUNK: Final = 1 << 20
#: JSON documents of an image have a few KB; no registry takes more than this.
_MAX_DOCUMENT: Final = 4 << 20
_REMEDY: Final = "Copy the base again, such as by skopeo"
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

    Some programs that take images expect layers to be compressed, such as `crane validate`. Such a tar is a layer as
    it is.

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


@dataclass(frozen=True)
class Base:
    """What an image begins with: nothing, if there is no base."""

    config: Mapping[str, Any] = field(default_factory=dict)
    layers: tuple[Blob, ...] = ()
    #: SHA-256 of the manifest, in hex; empty if there is none, as for a root file system.
    sha256: str = ""

    @property
    def diff_ids(self) -> list[str]:
        """The diffIDs of the layers."""
        return list(self.config.get("rootfs", {}).get("diff_ids", ()))


@dataclass(frozen=True)
class _Place:
    """A member of a layout: the file, and offset and size of the member in it."""

    file: str
    offset: int
    size: int


@dataclass(frozen=True)
class _Layout:
    """The members of an OCI image layout, by path."""

    name: str
    members: Mapping[str, _Place]

    def document(self, path: str) -> dict[str, Any]:
        """Read a JSON document."""
        place = self.place(path)
        if place.size > _MAX_DOCUMENT:
            raise ToolError(f"{self.name}: {path} has {place.size} bytes; expected a small JSON document. {_REMEDY}")
        with Path(place.file).open("rb") as file:
            file.seek(place.offset)
            try:
                document = json.loads(file.read(place.size))
            except ValueError as error:
                raise ToolError(f"{self.name}: {path}: expected a JSON document: {error}. {_REMEDY}") from None
        if not isinstance(document, dict):
            raise ToolError(f"{self.name}: {path}: expected a JSON object. {_REMEDY}")
        return document

    def descriptors(self, document: dict[str, Any], key: str) -> list[dict[str, Any]]:
        """Return the descriptors that a manifest or an index lists."""
        found = document.get(key)
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise ToolError(f"{self.name}: `{key}`: expected a list of descriptors. {_REMEDY}")
        return found

    def place(self, path: str) -> _Place:
        """Return where a member is."""
        if path not in self.members:
            raise ToolError(f"{self.name}: has no {path}; expected a complete OCI image layout. {_REMEDY}")
        return self.members[path]

    def blob(self, descriptor: dict[str, Any], media_type: str = "") -> Blob:
        """Return the blob that a descriptor names, after its bytes were digested."""
        digest, size = str(descriptor.get("digest")), descriptor.get("size")
        found = _DIGEST.fullmatch(digest)
        if not found:
            raise ToolError(f"{self.name}: a digest is {digest!r}; expected `sha256:` and 64 digits. {_REMEDY}")
        blob = Blob(media_type or str(descriptor.get("mediaType")), found[1], 0)
        place = self.place(blob.path)
        actual = _sha256(place)
        if (place.size, actual) != (size, found[1]):
            raise ToolError(
                f"{self.name}: {blob.path} has {place.size} bytes with SHA-256 {actual}; expected {size} bytes with "
                f"{found[1]}. {_REMEDY}"
            )
        given = descriptor.get("annotations")
        annotations = given if isinstance(given, dict) else {}
        return replace(blob, size=place.size, file=place.file, offset=place.offset, annotations=annotations)


def _sha256(place: _Place) -> str:
    sha256, left = hashlib.sha256(), place.size
    with Path(place.file).open("rb") as file:
        file.seek(place.offset)
        while left and (chunk := file.read(min(left, _CHUNK))):
            sha256.update(chunk)
            left -= len(chunk)
    return sha256.hexdigest()


def _members(path: str) -> dict[str, _Place]:
    """Return the files of a directory or a tar, by path. Raises ToolError for a damaged tar."""
    top = Path(path)
    if top.is_dir():
        files = (file for file in top.rglob("*") if file.is_file())
        return {file.relative_to(top).as_posix(): _Place(str(file), 0, file.stat().st_size) for file in files}
    try:
        with tarfile.open(path, "r:") as archive:
            return {
                member.name.removeprefix("./"): _Place(path, member.offset_data, member.size)
                for member in archive
                if member.isreg()
            }
    except (tarfile.TarError, OSError) as error:
        raise ToolError(
            f"{path}: cannot be read as a tar: {error}; expected an OCI image layout, as a directory or a tar, or the "
            "tar of a root file system, plain or by gzip. Name another base"
        ) from None


def read_base(path: str, architecture: str) -> Base:
    """Read a base for Linux and a CPU, as OCI calls it. Raises ToolError if it is for another one, or damaged."""
    if Path(path).is_file() and is_gzip(path):
        return _root_file_system(path, architecture, TAR_GZIP, inflated_sha256(path))
    layout = _Layout(path, _members(path))
    if "oci-layout" not in layout.members:
        return _root_file_system(path, architecture, TAR)
    found = _manifest(layout, layout.document("index.json"), architecture)
    manifest = layout.document(found.path)
    (config_descriptor,) = layout.descriptors({"config": [manifest.get("config")]}, "config")
    config = layout.document(layout.blob(config_descriptor).path)
    _check_platform(path, config, architecture)
    layers = []
    for descriptor in layout.descriptors(manifest, "layers"):
        media_type = LAYERS.get(str(descriptor.get("mediaType")))
        if media_type is None:
            raise ToolError(
                f"{path}: a layer is of the type {descriptor.get('mediaType')}; expected one of {', '.join(LAYERS)}. "
                "Name another base"
            )
        layers.append(layout.blob(descriptor, media_type))
    base = Base(config, tuple(layers), found.sha256)
    if len(base.diff_ids) != len(base.layers):
        raise ToolError(
            f"{path}: the config has {len(base.diff_ids)} diffIDs, the manifest {len(base.layers)} layers; expected as "
            f"many. {_REMEDY}"
        )
    return base


def _manifest(layout: _Layout, index: dict[str, Any], architecture: str) -> Blob:
    """Return the manifest for a CPU; an index may have one per platform, or further indexes."""
    manifests = layout.descriptors(index, "manifests")
    # What has an artifactType refers to an image, such as its bill of materials.
    images = [one for one in manifests if not one.get("artifactType")]
    fitting = [one for one in images if _fits(one.get("platform"), architecture)]
    if len(fitting) != 1:
        raise ToolError(
            f"{layout.name}: {len(fitting)} of {len(images)} images are for linux/{architecture}; expected one. "
            "Copy that image alone into a layout, such as by skopeo"
        )
    blob = layout.blob(fitting[0])
    return _manifest(layout, layout.document(blob.path), architecture) if blob.media_type in _INDEXES else blob


def _fits(platform: Any, architecture: str) -> bool:
    """Whether a descriptor may be one of an image for a CPU: it says so, or nothing."""
    return not platform or (platform.get("os"), platform.get("architecture")) == ("linux", architecture)


def _check_platform(path: str, config: Any, architecture: str) -> None:
    found = f"{config.get('os')}/{config.get('architecture')}"
    if found != f"linux/{architecture}":
        raise ToolError(
            f"{path}: the base is for {found}; expected linux/{architecture}. Name another base, or set `architecture`"
        )


def _root_file_system(path: str, architecture: str, media_type: str, diff_id: str = "") -> Base:
    """Return a base of one layer, the tar of a root file system as it is; `diff_id` is the inflated tar's digest."""
    size = Path(path).stat().st_size if Path(path).is_file() else 0
    if not size:
        raise ToolError(
            f"{path}: has no oci-layout; expected an OCI image layout, or the tar of a root file system. "
            "Name another base"
        )
    sha256 = _sha256(_Place(path, 0, size))
    config = {
        "architecture": architecture,
        "os": "linux",
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{diff_id or sha256}"]},
        "history": [{"created_by": Path(path).name}],
    }
    return Base(config, (Blob(media_type, sha256, size, file=path),))
