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

from tests.pipeline.artifacts import write_artifact, write_node
from tests.pipeline.package_reader import FindingError
from tests.pipeline.properties import PLAIN, build_or_refusal
from tests.pipeline.run import REPOSITORY, Built, Cache
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
            place = folder / base / path
            if after.bases[base].get(path) == node:
                continue
            if place.is_symlink() or place.is_file():
                place.unlink()
            _remove_empty(place, folder / base)
    for base, nodes in after.bases.items():
        (folder / base).mkdir(parents=True, exist_ok=True)
        for path, node in nodes.items():
            if before.bases[base].get(path) != node or not os.path.lexists(folder / base / path):
                write_node(folder / base / path, node, PLAIN)


def _remove_empty(directory: Path, top: Path) -> None:
    while directory != top and not (directory.is_dir() and any(directory.iterdir())):
        if directory.is_dir():
            directory.rmdir()
        directory = directory.parent


def surface(artifacts: Path) -> Iterator[str]:
    """Yield what the documentation says is noticed without a wrapper: names, kinds, and what links lead to."""
    for path in _below(artifacts):
        yield f"{path} {f'link to {_content(path)}' if path.is_symlink() else path.is_dir()}"


def _below(directory: Path, *, follows: bool = False) -> Iterator[Path]:
    for folder, folders, names in os.walk(directory, followlinks=follows):
        yield from (Path(folder, name) for name in (*folders, *names))


def _content(path: Path) -> str:
    """Return a digest of what a path leads to: for a directory that it is one, nothing if it leads nowhere."""
    try:
        return "directory" if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


class Watch:
    """What Bazel compares before it fetches the repository of the artifacts again."""

    def __init__(self, repository: Path) -> None:
        """Read what a catalog wrote, and look at it."""
        names = ("files_read.txt", "trees.txt", "directories.txt")
        lines = ((repository / name).read_text("utf-8").splitlines() for name in names)
        self.files, self.trees, self.listings = (list(map(Path, several)) for several in lines)
        #: Links to directories may go in a circle: then the documentation promises less.
        self.has_circles = any(leads_to_directory(path) for listing in self.listings for path in listing.iterdir())
        self.seen = self._look()

    def notices(self) -> bool:
        """Whether Bazel would see that something changed; where links may go in a circle, always."""
        gone = [path for path in self.listings if not path.is_dir()]
        if gone and not self.has_circles:
            raise FindingError("inconsistent file system", f"{gone[0]} was listed, and is gone")
        return self.has_circles or any(map(_has_circle, self.trees)) or self._look() != self.seen

    def _look(self) -> list[str]:
        """Return what is watched as it is now: of files the content, of trees all below, of listings names and kinds.

        Trees follow links; the text of one, and modes, nobody sees.
        """
        seen = [f"{path} {_content(path)}" for path in self.files]
        for tree in self.trees:
            seen += [f"{path} {_kind(path)} {_content(path)}" for path in _below(tree, follows=True)]
        for listing in self.listings:
            seen += [f"{path} {_kind(path)}" for path in (listing.iterdir() if listing.is_dir() else ())]
        return sorted(seen)


def _has_circle(directory: Path, above: tuple[str, ...] = ()) -> bool:
    """Whether links to directories lead back, so that following them does not end; `above` are the real paths."""
    real = os.path.realpath(directory)
    if real in above or not directory.is_dir():
        return real in above
    return any(_has_circle(path, (*above, real)) for path in directory.iterdir() if path.is_dir())


def _kind(path: Path) -> int:
    return stat.S_IFMT(path.lstat().st_mode)


def leads_to_directory(path: Path) -> bool:
    """Whether a path is a link to a directory, or a link that goes in a circle."""
    try:
        return path.is_symlink() and stat.S_ISDIR(path.stat().st_mode)
    except FileNotFoundError:
        return False
    except OSError:
        return True
