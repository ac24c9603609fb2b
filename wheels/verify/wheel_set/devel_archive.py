"""Reads development trees: the archive in a wheel (`_devel.tar`, `_devel.tar.xz`), and lists of links to be made.

Headers, and the headers and tables of ELF files and PE images; nothing is unpacked. A plain archive is read with seeks.
A compressed one only goes forward, so these are held in memory one at a time, if they are not too big.
"""

import io
import lzma
import posixpath
import tarfile
from collections.abc import Mapping
from itertools import takewhile
from typing import BinaryIO, Final, cast

from lib.common.paths import directories_above
from lib.elf.reader import is_elf
from lib.elf.source import ElfError
from lib.pe.model import PeImage
from lib.pe.reader import is_pe, read_pe
from lib.wheel.devel_tree import LINKS, MANIFEST, Manifest, read_json
from wheels.verify.wheel_set.loader import inside, read_linked
from wheels.verify.wheel_set.model import DevelTree, Linked, LinkManifest

#: Names of such archives, without directories.
ARCHIVE_NAMES: Final = ("_devel.tar", "_devel.tar.xz")
_COMPRESSED: Final = ".xz"
#: More members than this is damage.
MAX_MEMBERS: Final = 1 << 21
_CHUNK: Final = 1 << 20
#: Bigger ones of a compressed archive are not looked into, in bytes.
MAX_HELD: Final = 1 << 26


class _Reading:
    """What was read so far."""

    def __init__(self, archive: str) -> None:
        self.archive = archive
        self.tree = ""
        self.files: dict[str, int] = {}
        self.directories: set[str] = set()
        self.above: set[str] = set()
        """What lies above any member: directories, whether the archive has them or not."""
        self.links: dict[str, str] = {}
        self.linked: dict[str, Linked] = {}
        self.images: dict[str, PeImage] = {}

    def take(self, tar: tarfile.TarFile, info: tarfile.TarInfo) -> None:
        """Take one member. Raises ValueError when it cannot be unpacked."""
        path = info.name.rstrip("/")
        self.tree = self.tree or path.split("/")[0]
        if inside(path) != path or path.split("/")[0] != self.tree:
            raise ValueError(f"the member {info.name!r} is not a plain path inside {self.tree}/")
        if path in self.files or path in self.links:
            raise ValueError(f"the member {path} is there twice")
        parents = list(takewhile(lambda parent: parent not in self.above, directories_above(path)))
        if not info.isdir() and path in self.above:
            raise ValueError(f"the member {path} is not a directory, and others lie below it")
        if wrong := next((parent for parent in parents if parent in self.files or parent in self.links), None):
            raise ValueError(f"the member {path} lies below {wrong}, which is not a directory")
        self.above.update(parents)
        if info.isdir():
            self.directories.add(path)
        elif info.issym():
            self.links[path] = info.linkname
        elif info.isreg() and not info.issparse():
            self.files[path] = info.size
            self._look_into(tar, info, path)
        else:
            raise ValueError(f"the member {path} is neither a file, a directory nor a symbolic link")

    def _look_into(self, tar: tarfile.TarFile, info: tarfile.TarInfo, path: str) -> None:
        file = tar.extractfile(info)
        if file is None or info.size < 64:
            return
        head = file.read(4)
        if not is_elf(head) and not is_pe(head):
            return
        if self.archive.endswith(_COMPRESSED):
            if info.size > MAX_HELD:
                return
            file = io.BytesIO(head + file.read())
        try:
            if is_pe(head):
                self.images[path] = read_pe(cast(BinaryIO, file), path)
                return
            linked = read_linked(cast(BinaryIO, file), path)
        except ElfError:
            return  # Damaged, or no program and no library: it was so when it was packed.
        if linked is not None:
            self.linked[path] = linked

    def result(self, damage: str = "") -> DevelTree:
        """Return what there is, and why there is no more."""
        directories = frozenset(self.directories)
        return DevelTree(self.archive, self.tree, self.files, directories, self.links, self.linked, self.images, damage)


def is_devel_archive(path: str, size: int, head: bytes) -> bool:
    """Whether a path of a wheel names a development archive."""
    return posixpath.basename(path) in ARCHIVE_NAMES


def _open(file: BinaryIO, archive: str) -> tarfile.TarFile:
    if archive.endswith(_COMPRESSED):
        return tarfile.open(fileobj=file, mode="r:xz", encoding="utf-8")
    return tarfile.open(fileobj=file, mode="r:", encoding="utf-8")


def _check_end(tar: tarfile.TarFile) -> None:
    """Raise ValueError unless two zero blocks end the archive (POSIX pax): tarfile, which read one, does with less."""
    if tar.fileobj is None or tar.fileobj.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise ValueError("the archive does not end with two blocks of zeros: it is cut off or damaged")
    while tar.fileobj.read(_CHUNK):
        pass  # An xz stream is compared with its checksums only when it is read to the end.


def read_devel_archive(file: BinaryIO, archive: str) -> DevelTree:
    """Read the archive open in `file`; what is wrong with it is in the result's `damage`."""
    reading = _Reading(archive)
    try:
        with _open(file, archive) as tar:
            for count, info in enumerate(tar, 1):
                if count > MAX_MEMBERS:
                    raise ValueError(f"more than {MAX_MEMBERS} members")
                reading.take(tar, info)
                tar.members = []  # type: ignore[attr-defined]  # tarfile keeps every member otherwise
            _check_end(tar)
    except (tarfile.TarError, lzma.LZMAError, EOFError, ValueError, OSError, OverflowError, RecursionError) as error:
        return reading.result(str(error) or type(error).__name__)
    return reading.result()


#: Bytes; no list of links is larger.
MAX_MANIFEST: Final = 1 << 26
#: Stands for the tree of a manifest that names none, as AMD's do not.
_UNNAMED: Final = "_"


def is_link_manifest(path: str, size: int, head: bytes) -> bool:
    """Whether a path of a wheel names a manifest."""
    return path.endswith(".json") and posixpath.basename(posixpath.dirname(path)) == LINKS and size <= MAX_MANIFEST


def is_own(manifest: LinkManifest) -> bool:
    """Whether a manifest is the development package's: others are of packages for some GPUs or CPUs."""
    return manifest.path.endswith(f"/{MANIFEST}")


def read_link_manifest(file: BinaryIO, path: str) -> LinkManifest:
    """Read a manifest; what is wrong with it is in the result's `damage`."""
    try:
        document = read_json(file.read().decode())
        read = Manifest(path, document, _UNNAMED)
        prefix = f"{read.tree}/"
        links = {one.removeprefix(prefix): link.text for one, link in read.links.items()}
        files = frozenset(one.removeprefix(prefix) for one in read.files)
        tree = "" if read.tree == _UNNAMED else read.tree
        return LinkManifest(path, read.version, tree, links, files)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        return LinkManifest(path, damage=f"{type(error).__name__}: {error}")


def with_links(
    manifest: LinkManifest,
    version: str,
    archive: DevelTree | None,
    sizes: Mapping[str, int],
    linked: Mapping[str, Linked],
    images: Mapping[str, PeImage],
) -> DevelTree:
    """Return the tree of a development package, given its version, and what its archive or its wheel has."""
    tree = manifest.tree or f"_{manifest.path.split('/')[0]}"
    damage = f"{manifest.path}: {manifest.damage}" if manifest.damage else ""
    if not damage and manifest.version != version:
        damage = f"{manifest.path} is of version {manifest.version!r}; expected {version!r}"
    links = {f"{tree}/{path}": text for path, text in manifest.links.items()}
    if archive is None:
        below = {path: size for path, size in sizes.items() if path.startswith(f"{tree}/")}
        within = {path: one for path, one in linked.items() if path in below}
        return DevelTree(
            manifest.path,
            tree,
            below,
            links=links,
            linked=within,
            images={path: one for path, one in images.items() if path in below},
            damage=damage,
        )
    named = {f"{tree}/{path}" for path in manifest.files}
    if not (damage or archive.damage) and named != set(archive.files):
        damage = f"{manifest.path} and the archive disagree about {min(named ^ set(archive.files))}"
    return DevelTree(
        archive.archive,
        tree,
        archive.files,
        archive.directories,
        {**archive.links, **links},
        archive.linked,
        archive.images,
        archive.damage or damage,
    )


def offered_files(manifest: LinkManifest) -> dict[str, str]:
    """Return the files that a manifest leads to, by the paths of links below the development tree."""
    return {
        path: posixpath.normpath(posixpath.join(_UNNAMED, posixpath.dirname(path), text))
        for path, text in manifest.links.items()
    }
