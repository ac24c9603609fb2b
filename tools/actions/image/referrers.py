"""Bills of materials of an image: artifacts that refer to it (OCI image specification 1.1, `subject`).

A registry lists them for the image's digest. Each is a manifest of its own with one file, as scanners expect.
"""

import functools
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lib.common.program import ToolError, read_document
from tools.actions.image.blobs import MANIFEST, Blob, json_blob

#: The media type of a bill of materials, and of an artifact that has one.
CYCLONEDX: Final = "application/vnd.cyclonedx+json"
#: What an artifact has in the place of a config (image specification, "Guidance for an Empty Descriptor").
EMPTY: Final = json_blob("application/vnd.oci.empty.v1+json", {})


@dataclass(frozen=True)
class Referrer:
    """An artifact that refers to an image: its manifest, and the file that it is about."""

    manifest: Blob
    file: Blob

    @property
    def entry(self) -> dict[str, Any]:
        """How the index of a layout lists it."""
        return self.manifest.descriptor(artifactType=CYCLONEDX)


def _title(path: str) -> str:
    """Return the file name of a bill of materials, after what it is about. Raises ToolError if it does not say so."""
    document = read_document(path)
    try:
        return f"{document['metadata']['component']['name']}.cdx.json"
    except (KeyError, TypeError):
        raise ToolError(f"{path}: has no metadata.component.name; expected CycloneDX. Build it again") from None


@functools.cache
def _file(path: str) -> Blob:
    """Return the blob of a bill of materials, which images may share."""
    data = Path(path).read_bytes()
    title = {"org.opencontainers.image.title": _title(path)}
    return Blob(CYCLONEDX, hashlib.sha256(data).hexdigest(), len(data), data=data, annotations=title)


def bills_of_materials(subject: Blob, paths: Iterable[str]) -> Iterator[Referrer]:
    """Yield an artifact for each file, a bill of materials in CycloneDX; `subject` is the image's manifest."""
    for path in paths:
        file = _file(path)
        document = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "artifactType": CYCLONEDX,
            "config": EMPTY.descriptor(),
            "layers": [file.descriptor()],
            "subject": subject.descriptor(),
        }
        yield Referrer(json_blob(MANIFEST, document), file)
