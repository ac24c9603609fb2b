"""How Bazel is to watch the directories of artifacts, where no wrapper tells it of changes.

    trees, listings = watched(directories_of(artifacts))

A tree is watched with all below it (`repository_ctx.watch_tree`): names, kinds, contents, and where links lead. Bazel
follows links for that, and a link that leads back to a directory above it, or to itself, makes it stop, or crash. So
directories from which links go in a circle, or lead to what was not looked at, are watched by their listings
(`path.readdir`). A watched directory that is removed itself makes Bazel speak of an inconsistent file system from then
on; what is removed below a tree does not.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from tools.fetch.catalog.scan import ScannedArtifact


def directories_of(artifacts: Sequence[ScannedArtifact]) -> Iterator[Path]:
    """Yield all scanned directories and their parents, up to the directory with the artifacts; parents come first.

    Each is there once: a tree may be a thousand directories deep.
    """
    seen: set[Path] = set()
    for artifact in artifacts:
        for directory in artifact.directories:
            new = []
            for path in chain((directory,), directory.parents):
                if path in seen:
                    break
                seen.add(path)
                new.append(path)
                if path == artifact.folder.parent:
                    break
            yield from reversed(new)


def watched(directories: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """Return the topmost directories to watch as trees, and the directories to watch by their listings; both sorted.

    A directory comes behind those that it lies in. One may be there several times.
    """
    real: dict[Path, str] = {}
    for path in directories:
        if path not in real:
            above = None if path.is_symlink() else real.get(path.parent)
            real[path] = os.path.realpath(path) if above is None else f"{above}/{path.name}"
    unsafe = _unsafe({place: _leads_to(place) for place in real.values()})
    whole = {path for path, place in real.items() if place not in unsafe}
    trees = [path for path in whole if path.parent not in whole]
    return sorted(trees), sorted(path for path, place in real.items() if place in unsafe)


def _leads_to(directory: str) -> set[str]:
    """Return the real paths of the directories that lie in a directory, given by its own, by themselves or as links."""
    found = set()
    with os.scandir(directory) as listing:
        for entry in listing:
            try:
                if entry.is_dir():
                    found.add(os.path.realpath(entry.path) if entry.is_symlink() else f"{directory}/{entry.name}")
            except OSError:  # A link to itself: as bad as one to the directory that it lies in.
                found.add(directory)
    return found


def _unsafe(leads: dict[str, set[str]]) -> set[str]:
    """Return those from which a circle, or what is unknown, can be reached: all others end somewhere."""
    left = {one: set(found) for one, found in leads.items()}
    ends = [one for one, found in left.items() if not found]
    above: dict[str, list[str]] = {}
    for one, found in left.items():
        for other in found:
            above.setdefault(other, []).append(one)
    while ends:
        end = ends.pop()
        del left[end]
        for one in above.get(end, ()):
            left[one].discard(end)
            if not left[one]:
                ends.append(one)
    return set(left)
