"""The merged install prefix: all artifacts of a package laid over each other, and its links resolved."""

import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lib.common.program import ToolError
from lib.plan.model import LEFT_OUT, Artifact, Entry, Facts, Found, Kind, Plan, is_executable

#: As many links as the kernel follows before it says ELOOP.
MAX_LINKS = 40


@dataclass(frozen=True)
class Node:
    """Content at a path of the prefix: of this package (`found`), or of a package that it builds on (`entry`)."""

    kind: Kind
    link: str | None
    found: Found | None = None
    entry: Entry | None = None
    plan: Plan | None = None

    @property
    def is_dropped(self) -> bool:
        """Whether a package that this one builds on has the path, but leaves it out."""
        return self.entry is not None and self.entry.treatment in LEFT_OUT


@dataclass(frozen=True)
class Resolved:
    """The destination of a path after all links are followed."""

    path: str
    node: Node

    @property
    def facts(self) -> Facts | None:
        """The facts of the file, if it is one of this package."""
        return self.node.found.facts if self.node.found else None


def _same(first: Found, other: Found) -> bool:
    """Whether two artifacts agree about a path, as far as it shows without reading contents."""
    if first.kind is not other.kind:
        return False
    if first.kind is Kind.LINK:
        return first.link == other.link
    sizes = [found.facts.size for found in (first, other) if found.facts and found.facts.size is not None]
    return len(set(sizes)) < 2


def merge(
    artifacts: list[Artifact], unwanted: Callable[[str], object] = lambda _: False
) -> tuple[dict[str, Found], list[tuple[str, str]]]:
    """Lays artifacts over each other; the first in sorted order wins where they agree.

    A file that one of them has as an executable is one: it is there to be run.

    Returns the entries by path, and the pairs of sources whose contents must be proven
    equal (that is `link`'s part: only pack reads contents). Raises ToolError where two
    artifacts plainly differ, but not about paths that are `unwanted`: of these the first serves, for links.
    """
    merged: dict[str, Found] = {}
    equal: list[tuple[str, str]] = []
    for artifact in sorted(artifacts, key=lambda artifact: artifact.name):
        for found in sorted(artifact.found, key=lambda found: (found.path, found.source)):
            first = merged.setdefault(found.path, found)
            if first is found:
                continue
            if not _same(first, found):
                if unwanted(found.path):
                    continue
                raise ToolError(
                    f"{found.path}: {first.source} ({describe(first)}) and {found.source} ({describe(found)}) differ, "
                    "but go to one package; expected equal content. Remove one of them, or give it another name, or "
                    "exclude the path"
                )
            if found.kind is Kind.FILE:
                equal.append((first.source, found.source))
                if is_executable(found.mode) and not is_executable(first.mode):
                    merged[found.path] = replace(first, mode=found.mode)
    _check_parents(merged, unwanted)
    return merged, equal


def _check_parents(merged: dict[str, Found], unwanted: Callable[[str], object]) -> None:
    """Raise ToolError for a path below a file or a link: artifacts whose directories are not entries may have one."""
    for path, found in merged.items():
        parent = path
        while parent := posixpath.dirname(parent):
            if (above := merged.get(parent)) and above.kind is not Kind.DIRECTORY and not unwanted(path):
                raise ToolError(
                    f"{path}: from {found.source}, but {above.source} ({describe(above)}) is where its directory has "
                    "to be; expected a directory. Remove one of them, or give it another name, or exclude the path"
                )


def describe(found: Found) -> str:
    """Return a few words on what an entry is, for errors."""
    if found.kind is Kind.LINK:
        return f"link to {found.link}"
    return f"file of {found.facts.size} bytes" if found.facts and found.facts.size is not None else str(found.kind)


class Prefix:
    """The merged prefix of a package and of those it builds on, in which links are resolved."""

    def __init__(self, merged: dict[str, Found], builds_on: list[Plan], equal: Sequence[tuple[str, str]] = ()) -> None:
        """Lays the package's own entries over the entries of the plans; its own win.

        `equal` are pairs of sources whose contents link compares, besides the pairs of the plans.
        """
        #: What the package's own artifacts have, by path.
        self.merged = merged
        self._equal: dict[str, str] = {}
        for pairs in [equal, *(plan.equal_sources for plan in builds_on)]:
            for one, other in pairs:
                self._equal[self._standing_for(one)] = self._standing_for(other)
        self._shipped = {entry.path: entry for plan in builds_on for entry in plan.entries if entry.is_packed_file}
        self._nodes: dict[str, Node] = {}
        for plan in builds_on:
            for entry in plan.entries:
                if entry.kind is Kind.NOTHING:
                    continue  # What another package makes is in no artifact, and not in the devel tree.
                known = self._nodes.get(entry.path)
                if known is None or (known.is_dropped and entry.treatment not in LEFT_OUT):
                    self._nodes[entry.path] = Node(entry.kind, entry.link, entry=entry, plan=plan)
        # A file that its package leaves out is nowhere; a link that it leaves out still says where it leads.
        self._nodes = {
            path: node for path, node in self._nodes.items() if not (node.is_dropped and node.kind is Kind.FILE)
        }
        for path, found in merged.items():
            self._nodes[path] = Node(found.kind, found.link, found=found)
        self._directories = {"", *(path for path, node in self._nodes.items() if node.kind is Kind.DIRECTORY)}
        for path in self._nodes:
            while path := posixpath.dirname(path):
                self._directories.add(path)

    def own(self, path: str) -> Found | None:
        """Return what the package's own artifacts have at a path; no link is followed."""
        return self.merged.get(path)

    def shipped(self, path: str) -> Entry | None:
        """Return what a package that this one builds on packs at a path."""
        return self._shipped.get(path)

    def is_same(self, source: str, other: str) -> bool:
        """Whether two sources are one file, or have equal contents: link stops the build if they have not."""
        return self._standing_for(source) == self._standing_for(other)

    def _standing_for(self, source: str) -> str:
        """Return the source that stands for all that are equal to this one."""
        while (other := self._equal.get(source, source)) != source:
            source = other
        return source

    def resolve(self, path: str) -> Resolved | None:
        """Follows every link in a path; None when it dangles, leads out or goes in circles."""
        todo, done, links = path.split("/"), "", 0
        while todo:
            part = todo.pop(0)
            if part in ("", "."):
                continue
            if part == "..":
                if not done:
                    return None
                done = posixpath.dirname(done)
                continue
            here = posixpath.join(done, part)
            node = self._nodes.get(here)
            if node and node.kind is Kind.LINK:
                links += 1
                if links > MAX_LINKS or node.link is None or node.link.startswith("/"):
                    return None
                todo = node.link.split("/") + todo
                continue
            if todo and here not in self._directories:
                return None
            done = here
        if done in self._nodes:
            return Resolved(done, self._nodes[done])
        return Resolved(done, Node(Kind.DIRECTORY, None)) if done in self._directories else None
