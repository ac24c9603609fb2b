"""What a layer is made for, and the document that says what was made: `layer` writes it, `image` reads it."""

from dataclasses import asdict, dataclass

from lib.common.program import read_document, write_document

#: Media types of the OCI image specification 1.1: a tar archive, plain and compressed by gzip.
TAR, TAR_GZIP = "application/vnd.oci.image.layer.v1.tar", "application/vnd.oci.image.layer.v1.tar+gzip"


@dataclass(frozen=True)
class InstallScheme:
    """Where a Python has its packages (`sysconfig` calls it so): directories without `/` at their beginning."""

    #: What Python imports from, such as `usr/lib/python3/dist-packages`.
    site_packages: str
    #: Directory of console scripts.
    scripts: str
    #: The interpreter that they start, an absolute path.
    python: str


@dataclass(frozen=True)
class LayerDescriptor:
    """A layer: a tar archive, its digests and what is in it."""

    media_type: str
    #: SHA-256 of the file, in hex, and its size in bytes.
    sha256: str
    size: int
    #: SHA-256 of the archive when inflated, in hex: the layer's diffID.
    diff_id: str
    #: What the image's history says of it.
    history: str
    #: The CPU that its files are for, as OCI calls it; empty if they are for all.
    architecture: str = ""

    def write(self, path: str) -> None:
        """Write the document."""
        write_document(path, asdict(self))


def read_layer_descriptor(path: str) -> LayerDescriptor:
    """Read the document."""
    return LayerDescriptor(**read_document(path))
