"""Reads the manifests of links that are made in a development tree: `.devel_links/*.json`."""

import posixpath
from collections.abc import Mapping
from typing import BinaryIO, Final

from lib.pe.model import PeImage
from lib.wheel.devel_tree import LINKS, MANIFEST, Manifest, read_json
from wheels.verify.wheel_set.model import DevelTree, Linked, LinkManifest

#: Bytes; no list of links is larger.
MAX_SIZE: Final = 1 << 26
#: Stands for the tree of a manifest that names none, as AMD's do not.
_UNNAMED: Final = "_"


def is_link_manifest(path: str, size: int) -> bool:
    """Whether a path of a wheel names a manifest."""
    return path.endswith(".json") and posixpath.basename(posixpath.dirname(path)) == LINKS and size <= MAX_SIZE


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
