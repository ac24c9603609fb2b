"""How Bazel is to watch the directories of artifacts, where no wrapper tells it of changes.

    trees, listings = watched(directories)

A tree is watched with all below it (`repository_ctx.watch_tree`): names, kinds, contents, and where links lead. Bazel
follows links for that, and a link that leads back to a directory above it, or to itself, makes it stop, or crash. So
directories from which links go in a circle are watched by their listings (`path.readdir`). Of these, one that is
removed makes Bazel speak of an inconsistent file system from then on.
"""

import os
from collections.abc import Iterable
from pathlib import Path


def watched(directories: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """Return the topmost directories that are trees to watch, and those of which only listings can be; sorted.

    `directories` are all there are: those below them, too, behind those that they lie in. None of them is a link.
    """
    real: dict[Path, str] = {}
    for path in directories:
        real[path] = f"{real[path.parent]}/{path.name}" if path.parent in real else os.path.realpath(path)
    circular = _circular({place: _leads_to(place) for place in real.values()})
    whole = {path for path, place in real.items() if place not in circular}
    trees = [path for path in whole if path.parent not in whole]
    return sorted(trees), sorted(path for path, place in real.items() if place in circular)


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


def _circular(leads: dict[str, set[str]]) -> set[str]:
    """Return those from which a circle can be reached: what is left when all that lead nowhere are taken away."""
    left = {one: found & leads.keys() for one, found in leads.items()}
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
