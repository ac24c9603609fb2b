"""What lies in site-packages when a distribution is installed with all that it requires, its development tree made.

The tree is made as the selector's runtime makes it: a member that is a link out of the tree becomes a hard link to the
file of another package, and every file of the packages by target is linked in as well, where the archive has nothing.
"""

import posixpath
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from wheels.verify.wheel_set.loader import Loader, Places, inside
from wheels.verify.wheel_set.model import DevelTree, Linked, Package


@dataclass(frozen=True)
class Installation:
    """Packages that are installed together; `linked` has all that the loader can take, also in the development tree."""

    packages: tuple[Package, ...]
    places: Places
    linked: Mapping[str, Linked]
    owners: Mapping[str, Package]
    """Which package brings a file."""

    def loader(self, system: Callable[[str], bool]) -> Loader:
        """Return the loader for it."""
        return Loader(self.linked, self.places, system)


def install(packages: Sequence[Package], trees: Collection[str] = ()) -> Installation:
    """Install packages; `trees` are those whose files the development tree takes in if they are there."""
    owners: dict[str, Package] = {}
    linked: dict[str, Linked] = {}
    links: dict[str, str] = {}
    directories: set[str] = set()
    for package in packages:
        for path in package.files:
            owners.setdefault(path, package)
        for path, own in package.linked.items():
            linked.setdefault(path, own)
    for package in packages:
        if package.devel and not package.devel.damage:
            added, links_of_tree = expand(package.devel, owners, trees)
            links |= links_of_tree
            directories |= package.devel.directories
            for path, source in added.items():
                owners.setdefault(path, package)
                one = package.devel.linked.get(path) if source is None else linked.get(source)
                if one is not None:
                    linked.setdefault(path, replace(one, path=path))
    return Installation(tuple(packages), Places(owners, links, directories), linked, owners)


def expand(
    devel: DevelTree, files: Collection[str], trees: Collection[str]
) -> tuple[dict[str, str | None], dict[str, str]]:
    """Return what the development tree holds: files, each with the file that it is a hard link to or None, and links.

    A link out of the tree whose file is not in `files` is not made.
    """
    made: dict[str, str | None] = dict.fromkeys(devel.files)
    links: dict[str, str] = {}
    for path, text in devel.links.items():
        source = outward(devel, path, text)
        if source is None:
            links[path] = text
        elif source in files:
            made[path] = source
    for source in files:
        top, _, below = source.partition("/")
        path = f"{devel.tree}/{below}"
        if top in trees and below and not posixpath.basename(below).startswith(".") and path not in links:
            made.setdefault(path, source)
    return made, links


def outward(devel: DevelTree, path: str, text: str) -> str | None:
    """Return the file of another package that a link of the archive stands for; None if it stays inside the tree."""
    target = inside(posixpath.join(posixpath.dirname(path), text))
    if target is None or target == devel.tree or target.startswith(devel.tree + "/"):
        return None
    return target
