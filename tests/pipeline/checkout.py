"""A checkout: a directory of artifacts that is edited in place, and builds of it with a cache that others share.

    checkout = Checkout(folder, sdk, cache)
    checkout.edit(after)
    built = checkout.build()

What Bazel would notice of an edit without a wrapper is worked out as Bazel does it, from what the catalog has it watch.
"""

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from tests.pipeline.properties import PLAIN, build_or_refusal
from tests.pipeline.reading import FindingError
from tests.pipeline.run import REPOSITORY, Built, Cache, write_artifact, write_node
from tests.pipeline.sdk import Artifact, Sdk


class Checkout:
    """One checkout, and what was last built in it."""

    def __init__(self, folder: Path, sdk: Sdk, cache: Cache) -> None:
        """Lay the artifacts out."""
        self.folder, self.sdk, self.cache, self.builds, self.moves = folder, sdk, cache, 0, 0
        self.watch: Watch | None = None
        for artifact in sdk.artifacts:
            write_artifact(artifact, self.artifacts, PLAIN)

    @property
    def artifacts(self) -> Path:
        """The directory of artifacts."""
        return self.folder / f"artifacts {self.moves}"

    def edit(self, after: Sdk) -> None:
        """Change the artifacts in place, all with one mtime; raises FindingError if Bazel would not look again."""
        before = set(surface(self.artifacts))
        known = {artifact.name: artifact for artifact in self.sdk.artifacts}
        for artifact in after.artifacts:
            old = known.pop(artifact.name, None)
            if old is None or old.bases.keys() != artifact.bases.keys():
                shutil.rmtree(self.artifacts / artifact.name, ignore_errors=True)
                write_artifact(artifact, self.artifacts, PLAIN)
            else:
                _edit(self.artifacts / artifact.name, old, artifact)
        for name in known:
            shutil.rmtree(self.artifacts / name)
        self.sdk = after
        if self.watch and not self.watch.notices() and (missed := before ^ set(surface(self.artifacts))):
            raise FindingError("change not noticed", min(missed))

    def move(self) -> None:
        """Have the artifacts in another directory."""
        before, self.watch = self.artifacts, None
        self.moves += 1
        before.rename(self.artifacts)

    def build(self) -> Built | str:
        """Build with the cache; return what came, or what the tool printed that refused."""
        self.builds += 1
        folder = self.folder / f"build {self.builds}"
        built = build_or_refusal(self.sdk, self.artifacts, folder, PLAIN, self.cache)
        repository = folder / "external" / REPOSITORY
        self.watch = Watch(repository) if (repository / "trees.txt").exists() else None
        return built


def _edit(folder: Path, before: Artifact, after: Artifact) -> None:
    """Change an artifact's nodes: first what goes is removed, and directories that nothing is in any more."""
    for base, nodes in before.bases.items():
        for path, node in nodes.items():
            if after.bases[base].get(path) != node:
                place = folder / base / path
                place.rmdir() if place.is_dir() and not place.is_symlink() and not os.listdir(place) else None
                place.unlink() if place.is_symlink() or place.is_file() else None
                _remove_empty(place.parent, folder / base)
    for base, nodes in after.bases.items():
        (folder / base).mkdir(parents=True, exist_ok=True)
        for path, node in nodes.items():
            if before.bases[base].get(path) != node or not os.path.lexists(folder / base / path):
                write_node(folder / base / path, node, PLAIN)


def _remove_empty(directory: Path, top: Path) -> None:
    while directory != top and directory.is_dir() and not os.listdir(directory):
        directory.rmdir()
        directory = directory.parent


def surface(artifacts: Path) -> Iterator[str]:
    """Yield what the documentation says is noticed without a wrapper: names, kinds, and what links lead to."""
    for folder, folders, names in os.walk(artifacts):
        for path in (os.path.join(folder, name) for name in (*folders, *names)):
            is_link = os.path.islink(path)
            yield f"{path} {'link to ' + _content(path) if is_link else os.path.isdir(path)}"


def _content(path: str) -> str:
    """Return a digest of what a path leads to: for a directory that it is one, nothing if it leads nowhere."""
    if os.path.isdir(path):
        return "directory"
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""


class Watch:
    """What Bazel compares before it fetches the repository of the artifacts again."""

    def __init__(self, repository: Path) -> None:
        """Read what a catalog wrote, and look at it."""
        names = ("files_read.txt", "trees.txt", "directories.txt")
        self.files, self.trees, self.listings = ((repository / name).read_text().splitlines() for name in names)
        #: Links to directories may go in a circle: then the documentation promises less.
        self.has_circles = bool(self.listings) and any(_has_links_to_directories(path) for path in self.listings)
        self.seen = self._look()

    def notices(self) -> bool:
        """Whether Bazel would see that something changed; where links may go in a circle, always."""
        if gone := [path for path in self.listings if not os.path.isdir(path)]:
            if not self.has_circles:
                raise FindingError("inconsistent file system", f"{gone[0]} was listed, and is gone")
        return self.has_circles or self._look() != self.seen

    def _look(self) -> list[str]:
        """Return what is watched as it is now: of files the content, of trees all below, of listings names and kinds.

        Trees follow links; the text of one, and modes, nobody sees.
        """
        seen = [f"{path} {_content(path)}" for path in self.files]
        for tree in self.trees:
            for folder, folders, names in os.walk(tree, followlinks=True):
                seen += [f"{path} {_kind(path)} {_content(path)}" for path in _in(folder, (*folders, *names))]
        for listing in filter(os.path.isdir, self.listings):
            seen += [f"{path} {_kind(path)}" for path in _in(listing, os.listdir(listing))]
        return sorted(seen)


def _in(folder: str, names: tuple[str, ...] | list[str]) -> list[str]:
    return [os.path.join(folder, name) for name in names]


def _kind(path: str) -> int:
    return os.lstat(path).st_mode >> 12


def _has_links_to_directories(folder: str) -> bool:
    return any(leads_to_directory(path) for path in _in(folder, os.listdir(folder)))


def leads_to_directory(path: str) -> bool:
    """Whether a path is a link to a directory, or one that goes in a circle."""
    if not os.path.islink(path):
        return False
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except FileNotFoundError:
        return False
    except OSError:
        return True
