"""Reads an OCI image as one tree of files: each layer over the one below, as an engine unpacks them.

    with read_image(path) as tree: …

The layers are inflated, one behind the other, into a temporary file, so that files are read from anywhere.
"""

import gzip
import io
import posixpath
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from lib.common.program import ToolError
from lib.wheel.zip_members import HOST_UNIX, STORED, ZipMember
from tools.actions.image.base import Base, read_base
from tools.actions.image.blobs import Blob
from tools.actions.layer.model import LANDMARK, TAR, TAR_GZIP, TOC_NAME

#: CPUs that images are for, as OCI calls them.
ARCHITECTURES: Final = ("amd64", "arm64")
#: How the name of a file begins that takes another away from the layers below (OCI image specification, "Whiteouts").
_WHITEOUT: Final = ".wh."
_OPAQUE: Final = ".wh..wh..opq"
_CHUNK: Final = 1 << 20


@dataclass(frozen=True)
class ImageFile:
    """A file, a link or a directory of an image."""

    layer: int
    """Number of the layer, from the lowest."""
    type: bytes
    """A constant of `tarfile`."""
    member: ZipMember
    """Where its bytes lie in the temporary file: as if that were an archive with stored members."""
    link: str = ""

    @property
    def path(self) -> str:
        """The path in the image, without `/` at the beginning."""
        return self.member.name

    @property
    def content(self) -> tuple[object, ...]:
        """What must be equal where two layers have one path."""
        return self.type, self.link, self.member.size, self.member.crc32, self.member.mode


@dataclass
class ImageTree:
    """All files of an image, by path, sorted."""

    name: str
    scratch: Path
    """The temporary file."""
    own_layers: frozenset[int] = frozenset()
    """Numbers of the layers that are made of wheels; the other layers come from a base."""
    files: dict[str, ImageFile] = field(default_factory=dict)
    hidden: list[tuple[ImageFile, ImageFile]] = field(default_factory=list)
    """Files that have different ones of the same path over them: (the file below, the one above)."""

    def add(self, file: ImageFile) -> None:
        """Lay a file of the next layer over what is there."""
        folder, _, name = file.path.rpartition("/")
        if name.startswith(_WHITEOUT):
            gone = folder if name == _OPAQUE else posixpath.join(folder, name.removeprefix(_WHITEOUT))
            self.files = {
                path: one
                for path, one in self.files.items()
                if one.layer == file.layer or not (path.startswith(f"{gone}/") or path == gone != folder)
            }
            return
        below = self.files.get(file.path)
        if below and below.content != file.content and not below.type == file.type == tarfile.DIRTYPE:
            self.hidden.append((below, file))
        self.files[file.path] = file


def is_image(path: Path) -> bool:
    """Whether a path is an image: an OCI layout, as a directory or as a tar of one."""
    if path.is_dir():
        return (path / "oci-layout").is_file()
    if path.suffix != ".tar" or not path.is_file():
        return False
    try:
        with tarfile.open(path, "r:") as archive:
            return "oci-layout" in (member.name.removeprefix("./") for member in archive)
    except tarfile.TarError:
        return False


def _read(path: Path) -> Base:
    """Read the image's documents, and compare the digests of its blobs, for whatever CPU it is."""
    errors = []
    for architecture in ARCHITECTURES:
        try:
            return read_base(str(path), architecture)
        except ToolError as error:
            errors.append(error)
    raise errors[0]


@contextmanager
def read_image(path: Path) -> Iterator[ImageTree]:
    """Read an image; the tree is good as long as the context is. Raises ToolError for a damaged one."""
    image = _read(path)
    history = [entry for entry in image.config.get("history", ()) if not entry.get("empty_layer")]
    own = frozenset(number for number, entry in enumerate(history) if ".whl" in str(entry.get("created_by")))
    with tempfile.NamedTemporaryFile() as scratch:
        tree = ImageTree(path.name, Path(scratch.name), own)
        for number, blob in enumerate(image.layers):
            start = scratch.seek(0, io.SEEK_END)
            try:
                _inflate(blob, scratch)
                for file in _members(scratch, start, number):
                    if file.path not in (LANDMARK, TOC_NAME):
                        tree.add(file)
            except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
                raise ToolError(f"{path}: {blob.path}: cannot be read: {error}. Build the image again") from None
        tree.files = dict(sorted(tree.files.items()))
        yield tree


def _inflate(blob: Blob, scratch: IO[bytes]) -> None:
    """Append a layer's archive. Its size is bounded by the disk alone: the image is the user's own."""
    if blob.media_type not in (TAR, TAR_GZIP):
        raise ToolError(
            f"{blob.file}: a layer is of the type {blob.media_type}; expected {TAR} or {TAR_GZIP}. Copy the base with "
            "layers that gzip compresses, such as by skopeo copy --dest-compress-format=gzip"
        )
    with open(blob.file, "rb") as file:
        file.seek(blob.offset)
        if blob.media_type == TAR_GZIP:
            shutil.copyfileobj(gzip.GzipFile(fileobj=_Part(file, blob.size)), scratch, _CHUNK)
        else:
            shutil.copyfileobj(_Part(file, blob.size), scratch, _CHUNK)
    scratch.flush()


class _Part(io.RawIOBase):
    """A part of a file, from where that stands."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        super().__init__()
        self._file, self._left = file, size

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        data = self._file.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        return data


def _members(scratch: IO[bytes], start: int, layer: int) -> Iterator[ImageFile]:
    """Yield the members of an archive that begins at an offset of the temporary file."""
    scratch.seek(start)
    with tarfile.open(fileobj=scratch, mode="r:") as archive:
        for info in archive.getmembers():
            path = posixpath.normpath(info.name).removeprefix("/")
            if info.islnk():
                yield from _hard_link(scratch, archive, info, path, layer)
            else:
                yield _file(scratch, info, path, layer)


def _hard_link(
    scratch: IO[bytes], archive: tarfile.TarFile, info: tarfile.TarInfo, path: str, layer: int
) -> Iterator[ImageFile]:
    """Yield the file that a hard link of the same layer is."""
    target = next((one for one in archive.getmembers() if one.name == info.linkname and one.isreg()), None)
    if target is not None:
        yield _file(scratch, target, path, layer)


def _file(scratch: IO[bytes], info: tarfile.TarInfo, path: str, layer: int) -> ImageFile:
    crc, size = 0, info.size if info.isreg() else 0
    scratch.seek(info.offset_data)
    left = size
    while left and (chunk := scratch.read(min(left, _CHUNK))):
        crc, left = zlib.crc32(chunk, crc), left - len(chunk)
    kind = {tarfile.SYMTYPE: 0o120000, tarfile.DIRTYPE: 0o040000}.get(info.type, 0o100000)
    attributes = (kind | info.mode) << 16
    member = ZipMember(path, STORED, 0, crc, size, size, 0, info.offset_data, HOST_UNIX, attributes)
    return ImageFile(layer, tarfile.REGTYPE if info.isreg() else info.type, member, info.linkname)
