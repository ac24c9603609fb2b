"""Reads development trees: the archive in a wheel (`_devel.tar`, `_devel.tar.xz`), and lists of links to be made.

Headers, and the headers and tables of ELF files and PE images; nothing is unpacked. A plain archive is read with seeks.
A compressed one only goes forward, so these are held in memory one at a time, if they are not too big.
"""

import io
import lzma
import posixpath
import tarfile
from collections.abc import Mapping
from dataclasses import replace
from typing import BinaryIO, Final, cast

from lib.common.program import directories_above
from lib.elf.reader import is_elf
from lib.pe.model import PeImage
from lib.pe.reader import is_pe
from lib.wheel.devel_tree import LINKS, MANIFEST, Manifest, read_json
from wheels.verify.model import FileFacts
from wheels.verify.wheel import read_program
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


def read_devel_archive(file: BinaryIO, facts: FileFacts) -> DevelTree:
    """Read the archive open in `file`; what is wrong with it is in the result's `damage`."""
    files: dict[str, int] = {}
    directories: set[str] = set()
    links: dict[str, str] = {}
    linked: dict[str, Linked] = {}
    images: dict[str, PeImage] = {}
    tree = damage = ""
    try:
        with _open(file, facts.path) as tar:
            for count, info in enumerate(tar, 1):
                path = info.name.rstrip("/")
                tree = tree or path.split("/")[0]
                if count > MAX_MEMBERS:
                    raise ValueError(f"more than {MAX_MEMBERS} members")
                if inside(path) != path or path.split("/")[0] != tree:
                    raise ValueError(f"the member {info.name!r} is not a plain path inside {tree}/")
                if path in files or path in links:
                    raise ValueError(f"the member {path} is there twice")
                if info.isdir():
                    directories.add(path)
                elif info.issym():
                    links[path] = info.linkname
                elif info.isreg() and not info.issparse():
                    files[path] = info.size
                    program = _read_program(tar, info, is_seekable=not facts.path.endswith(_COMPRESSED))
                    linked |= {path: program} if isinstance(program, Linked) else {}
                    images |= {path: program} if isinstance(program, PeImage) else {}
                else:
                    raise ValueError(f"the member {path} is neither a file, a directory nor a symbolic link")
                tar.members = []  # type: ignore[attr-defined]  # tarfile keeps every member otherwise
            _check_end(tar)
        for path in (*files, *links, *directories):
            if wrong := next((above for above in directories_above(path) if above in files or above in links), None):
                raise ValueError(f"the member {path} lies below {wrong}, which is not a directory")
    except (tarfile.TarError, lzma.LZMAError, EOFError, ValueError, OSError, OverflowError, RecursionError) as error:
        damage = str(error) or type(error).__name__
    return DevelTree(facts.path, tree, files, frozenset(directories), links, linked, images, damage)


def _read_program(tar: tarfile.TarFile, info: tarfile.TarInfo, *, is_seekable: bool) -> Linked | PeImage | None:
    """Read a program or library as in a wheel. A damaged one was so when it was packed."""
    file = tar.extractfile(info)
    if file is None or info.size < 64 or (info.size > MAX_HELD and not is_seekable):
        return None
    head = file.read(4)
    if not is_elf(head) and not is_pe(head):
        return None
    opened = cast(BinaryIO, file) if is_seekable else io.BytesIO(head + file.read())
    opened.seek(0)
    facts = read_program(opened, FileFacts(info.name, info.size, info.mode, ""))
    return facts.pe or read_linked(opened, facts)


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


def read_link_manifest(file: BinaryIO, facts: FileFacts) -> LinkManifest:
    """Read a manifest; what is wrong with it is in the result's `damage`."""
    path = facts.path
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
        libraries = {path: one for path, one in linked.items() if path in below}
        dlls = {path: one for path, one in images.items() if path in below}
        return DevelTree(manifest.path, tree, below, frozenset(), links, libraries, dlls, damage)
    named = {f"{tree}/{path}" for path in manifest.files}
    if not (damage or archive.damage) and named != set(archive.files):
        damage = f"{manifest.path} and the archive disagree about {min(named ^ set(archive.files))}"
    return replace(archive, tree=tree, links={**archive.links, **links}, damage=archive.damage or damage)


def offered_files(manifest: LinkManifest) -> dict[str, str]:
    """Return the files that a manifest leads to, by the paths of links below the development tree."""
    return {
        path: posixpath.normpath(posixpath.join(_UNNAMED, posixpath.dirname(path), text))
        for path, text in manifest.links.items()
    }
