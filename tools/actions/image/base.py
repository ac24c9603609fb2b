"""Blobs of an image, and the image that another is based on: an OCI image layout, or the tar of a root file system.

A layout is what `skopeo copy … oci:DIRECTORY` writes. A root file system is a tar as mmdebstrap or debootstrap makes
it, plain or by gzip: it becomes one layer, as it is. Every byte that is taken is digested first.
"""

import gzip
import hashlib
import json
import posixpath
import re
import tarfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from lib.common.digest import file_sha256
from lib.common.program import ToolError
from tools.actions.layer.tool import TAR, TAR_GZIP

#: Media types of the OCI image specification 1.1.
INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"


@dataclass(frozen=True)
class Blob:
    """A blob: its media type, its SHA-256 in hex, its size in bytes, and the bytes themselves."""

    media_type: str
    sha256: str
    size: int
    #: The bytes, or the file that has them.
    data: bytes = b""
    file: str = ""
    #: What a manifest says of the blob.
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """Path of the blob in an OCI image layout."""
        return posixpath.join("blobs", "sha256", self.sha256)

    def descriptor(self, **more: Any) -> dict[str, Any]:
        """Return how a manifest or an index refers to the blob."""
        about = {"annotations": dict(self.annotations)} if self.annotations else {}
        return {"mediaType": self.media_type, "digest": f"sha256:{self.sha256}", "size": self.size, **about, **more}


def json_bytes(document: Any) -> bytes:
    """Return a document as an image has it: the same bytes for the same content."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def json_blob(media_type: str, document: Any) -> Blob:
    """Return a blob with a JSON document."""
    data = json_bytes(document)
    return Blob(media_type, hashlib.sha256(data).hexdigest(), len(data), data=data)


#: Media types of the layers that a base may have: as they are, and as Docker calls the same.
LAYERS: Final = {
    TAR: TAR,
    TAR_GZIP: TAR_GZIP,
    "application/vnd.oci.image.layer.v1.tar+zstd": "application/vnd.oci.image.layer.v1.tar+zstd",
    "application/vnd.docker.image.rootfs.diff.tar.gzip": TAR_GZIP,
}
_INDEXES: Final = (INDEX, "application/vnd.docker.distribution.manifest.list.v2+json")
_DIGEST: Final = re.compile(r"sha256:([0-9a-f]{64})")
#: JSON documents of an image have a few KB; no registry takes more than this.
_MAX_DOCUMENT: Final = 4 << 20
_REMEDY: Final = "Copy the base again, such as by skopeo"
_MAGIC: Final = b"\x1f\x8b"
_BUFFER: Final = 1 << 20


class _Digested:
    """A file that is digested while it is read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self.sha256.update(data)
        return data


def _diff_id(path: str, *, is_gzip: bool) -> str:
    """Return the SHA-256, in hex, of a tar, inflated: the diffID of a layer with this file.

    Raises ToolError if the file is damaged, no tar, or an OCI image layout.
    """
    try:
        with gzip.open(path) if is_gzip else Path(path).open("rb") as file:
            digested = _Digested(cast(BinaryIO, file))
            with tarfile.open(fileobj=cast(BinaryIO, digested), mode="r|", bufsize=_BUFFER) as archive:
                names = {member.name.removeprefix("./") for member in archive}
            while digested.read(_BUFFER):
                pass
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise ToolError(
            f"{path}: cannot be read as a tar: {error}; expected an OCI image layout, or the tar of a root file "
            "system, plain or by gzip. Name another base"
        ) from None
    if "oci-layout" in names:
        raise ToolError(f"{path}: a tar of an OCI image layout; expected its directory. Unpack it")
    return digested.sha256.hexdigest()


@dataclass(frozen=True)
class Base:
    """Layers and settings that an image begins with; empty without a base."""

    config: Mapping[str, Any] = field(default_factory=dict)
    layers: tuple[Blob, ...] = ()
    #: SHA-256 of the manifest, in hex; empty if there is none, as for a root file system.
    sha256: str = ""

    @property
    def diff_ids(self) -> list[str]:
        """The diffIDs of the layers."""
        return list(self.config.get("rootfs", {}).get("diff_ids", ()))


@dataclass(frozen=True)
class _Layout:
    """An OCI image layout."""

    directory: Path

    def document(self, path: str) -> dict[str, Any]:
        """Read a JSON document."""
        file = self.file(path)
        if file.stat().st_size > _MAX_DOCUMENT:
            raise ToolError(f"{file}: {file.stat().st_size} bytes; expected a small JSON document. {_REMEDY}")
        try:
            document = json.loads(file.read_bytes())
        except ValueError as error:
            raise ToolError(f"{self.directory}: {path}: expected a JSON document: {error}. {_REMEDY}") from None
        if not isinstance(document, dict):
            raise ToolError(f"{self.directory}: {path}: expected a JSON object. {_REMEDY}")
        return document

    def descriptors(self, document: dict[str, Any], key: str) -> list[dict[str, Any]]:
        """Return the descriptors that a manifest or an index lists."""
        found = document.get(key)
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise ToolError(f"{self.directory}: `{key}`: expected a list of descriptors. {_REMEDY}")
        return found

    def file(self, path: str) -> Path:
        """Return a file of the layout."""
        if not (self.directory / path).is_file():
            raise ToolError(f"{self.directory}: has no {path}; expected a complete OCI image layout. {_REMEDY}")
        return self.directory / path

    def blob(self, descriptor: dict[str, Any], media_type: str = "") -> Blob:
        """Return the blob that a descriptor names, after its bytes were digested."""
        digest, size = str(descriptor.get("digest")), descriptor.get("size")
        found = _DIGEST.fullmatch(digest)
        if not found:
            raise ToolError(f"{self.directory}: a digest is {digest!r}; expected `sha256:` and 64 digits. {_REMEDY}")
        blob = Blob(media_type or str(descriptor.get("mediaType")), found[1], 0)
        file = self.file(blob.path)
        actual = (file.stat().st_size, file_sha256(file))
        if actual != (size, found[1]):
            raise ToolError(
                f"{self.directory}: {blob.path} has {actual[0]} bytes with SHA-256 {actual[1]}; expected {size} bytes "
                f"with {found[1]}. {_REMEDY}"
            )
        given = descriptor.get("annotations")
        annotations = given if isinstance(given, dict) else {}
        return replace(blob, size=actual[0], file=str(file), annotations=annotations)


def read_base(path: str, architecture: str) -> Base:
    """Read a base for Linux and a CPU, as OCI calls it. Raises ToolError if it is for another one, or damaged."""
    layout = _Layout(Path(path))
    if not layout.directory.is_dir():
        return _root_file_system(path, architecture)
    if not (layout.directory / "oci-layout").is_file():
        raise ToolError(
            f"{path}: has no oci-layout; expected an OCI image layout, or the tar of a root file system. "
            "Name another base"
        )
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
            f"{layout.directory}: {len(fitting)} of {len(images)} images are for linux/{architecture}; expected one. "
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


def _root_file_system(path: str, architecture: str) -> Base:
    """Return a base of one layer, the tar of a root file system as it is."""
    file = Path(path)
    with file.open("rb") as content:
        is_gzip = content.read(len(_MAGIC)) == _MAGIC
    diff_id = _diff_id(path, is_gzip=is_gzip)
    sha256 = file_sha256(file) if is_gzip else diff_id
    config = {
        "architecture": architecture,
        "os": "linux",
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{diff_id}"]},
        "history": [{"created_by": file.name}],
    }
    return Base(config, (Blob(TAR_GZIP if is_gzip else TAR, sha256, file.stat().st_size, file=path),))
