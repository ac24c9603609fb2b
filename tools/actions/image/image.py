"""An image: layers of packages on a base, its config, manifest and index (OCI image specification 1.1)."""

import functools
import hashlib
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from lib.common.archive_time import archive_time
from lib.common.program import ToolError, read_document
from tools.actions.image.base import CONFIG, MANIFEST, Base, Blob, json_blob
from tools.actions.layer.tool import LayerDescriptor

# Bills of materials of an image: artifacts that refer to it (OCI image specification 1.1, `subject`).
#
# A registry lists them for the image's digest. Each is a manifest of its own with one file, as scanners expect.

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
        """Entry for it in the index of a layout."""
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


#: A reference: host, path and tag, as the distribution specification has them.
_REFERENCE: Final = re.compile(
    r"(?:localhost|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)(?::\d+)?"
    r"(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)+"
    r":(?P<tag>[A-Za-z0-9_][A-Za-z0-9._-]{0,127})"
)


@dataclass(frozen=True)
class ImageDefinition:
    """Definition of an image in a BUILD file."""

    #: Host or `localhost`, path and tag: the name under which engines load the image.
    reference: str
    #: CPU, as OCI calls it (Go's GOARCH).
    architecture: str
    env: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Image:
    """The parts of an image."""

    #: The name under which engines load it.
    reference: str
    blobs: tuple[Blob, ...]
    #: How the index of a layout lists the image, and what refers to it.
    entries: tuple[dict[str, Any], ...]


def _run_config(definition: ImageDefinition, base: Base) -> dict[str, Any]:
    """Return what a container of the image starts with: what the base says, with our variables and labels."""
    config = dict(base.config.get("config") or {})
    env = {name: value for name, _, value in (line.partition("=") for line in config.get("Env") or ())} | definition.env
    labels = (config.get("Labels") or {}) | definition.labels
    given = {"Env": [f"{name}={value}" for name, value in env.items()], "Labels": labels}
    return config | {name: value for name, value in given.items() if value}


def _config(definition: ImageDefinition, base: Base, layers: Iterable[LayerDescriptor]) -> dict[str, Any]:
    """Return the image's config."""
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(archive_time()))
    ours = list(layers)
    history = list(base.config.get("history") or ())
    return {
        **{name: base.config[name] for name in ("os.version", "os.features", "variant") if name in base.config},
        "architecture": definition.architecture,
        "os": "linux",
        "created": created,
        "config": _run_config(definition, base),
        "rootfs": {"type": "layers", "diff_ids": base.diff_ids + [f"sha256:{layer.diff_id}" for layer in ours]},
        "history": history + [{"created": created, "created_by": layer.history} for layer in ours],
    }


def _checked_tag(definition: ImageDefinition) -> str:
    """Return the tag of the image's name; raises ToolError for a name that no engine takes."""
    found = _REFERENCE.fullmatch(definition.reference)
    if not found:
        raise ToolError(
            f"reference is {definition.reference!r}; expected HOST/NAME:TAG, the name in lower case, such as "
            "localhost/acme:7.10.0. Set `reference`"
        )
    return found["tag"]


def _check_architecture(definition: ImageDefinition, layers: Iterable[LayerDescriptor]) -> None:
    """Raise ToolError for a layer with files for another CPU."""
    for layer in layers:
        if layer.architecture not in ("", definition.architecture):
            raise ToolError(
                f"{layer.history}: the layer is for {layer.architecture}; expected {definition.architecture}. Leave it "
                "out, or set `architecture`"
            )


def _blob(layer: LayerDescriptor, file: str) -> Blob:
    return Blob(layer.media_type, layer.sha256, layer.size, file=file)


def _manifest(base: Base, config: Blob, layers: Iterable[Blob]) -> Blob:
    """Return the image's manifest."""
    based_on = {"org.opencontainers.image.base.digest": f"sha256:{base.sha256}"} if base.sha256 else {}
    document = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": config.descriptor(),
        "layers": [layer.descriptor() for layer in layers],
        **({"annotations": based_on} if based_on else {}),
    }
    return json_blob(MANIFEST, document)


def make_image(
    definition: ImageDefinition, base: Base, layers: list[tuple[LayerDescriptor, str]], sboms: Sequence[str] = ()
) -> Image:
    """Return an image of a base and layers, (descriptor, file) each, and bills of materials, files in CycloneDX.

    Raises ToolError for what fits no image.
    """
    tag = _checked_tag(definition)
    _check_architecture(definition, (layer for layer, _ in layers))
    config = json_blob(CONFIG, _config(definition, base, (layer for layer, _ in layers)))
    blobs = [*base.layers, *(_blob(layer, file) for layer, file in layers)]
    manifest = _manifest(base, config, blobs)
    names = {"io.containerd.image.name": definition.reference, "org.opencontainers.image.ref.name": tag}
    platform = {"os": "linux", "architecture": definition.architecture}
    entry = manifest.descriptor(annotations=names, platform=platform)
    referrers = list(bills_of_materials(manifest, sboms))
    entries = (entry, *(referrer.entry for referrer in referrers))
    attached = [blob for referrer in referrers for blob in (EMPTY, referrer.manifest, referrer.file)]
    return Image(definition.reference, (*blobs, manifest, config, *attached), entries)
