"""Blobs of an image, by digest: files that are there already, or small JSON documents."""

import hashlib
import json
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

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
        """Where an OCI image layout has the blob."""
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
