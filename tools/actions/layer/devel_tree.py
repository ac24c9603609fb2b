"""The tree of a devel package as it is once it is unpacked, from the same plan and segments that its wheel is made of.

A layer cannot have a hard link to a file of another layer. So the tree is what the packages' own programs make where no
hard links are possible: a symbolic link leads to the file of another package. But a program is copied, because it looks
for its headers and libraries beside the file that was started. The copy's bytes come from the other package's wheel.

Paths are relative to site-packages.
"""

import functools
import json
import posixpath
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from lib.common.program import ToolError
from lib.deflate.inflater import InflateError
from lib.pack.packed_tree import PackedTree
from lib.plan.model import Entry, Found, Kind, Plan, Treatment
from lib.wheel.deflated_run import Run
from tools.actions.layer.installed_wheel import InstalledFile, InstalledWheel, directory, symbolic_link, text_file
from tools.actions.layer.model import DEVEL_STAMP
from tools.actions.plan.prefix import Prefix

#: Files of the wheel that only unpacking needs: the archive of the tree, and what lies beside it under such a name.
_ARCHIVE = re.compile(r"([^/]+)/_devel\.tar(?:\.xz)?")
_BESIDE_ARCHIVE = "_devel."
#: How programs and scripts begin.
_PROGRAMS = (b"\x7fELF", b"#!")
#: Whatever others could change the tree by.
_NOT_FOR_OTHERS = ~0o022
_KINDS = {tarfile.REGTYPE: Kind.FILE, tarfile.SYMTYPE: Kind.LINK, tarfile.DIRTYPE: Kind.DIRECTORY}

#: Files by path.
Files = Mapping[str, InstalledFile]


@dataclass(frozen=True)
class DevelTree:
    """What a devel package packs, and the files of the packages that are installed beside it."""

    plan: Plan
    packed: PackedTree
    beside: Files
    #: A package that users choose by GPU target, whose plan the devel package need not know: its tree, and the files
    #: of it that come into the devel tree.
    target_tree: str = ""
    mirrored: Files = field(default_factory=dict)

    def files(self) -> dict[str, InstalledFile]:
        """Return files, links and directories. A link that leads nowhere is not made."""
        found = {}
        for entry in self.plan.entries:
            if entry.treatment is not Treatment.DROP and (file := self._file(entry)):
                found[file.path] = file
        found |= self._mirror({f"{self.plan.tree}/{entry.path}" for entry in self.plan.entries if _is_made(entry)})
        site = Prefix({path: _found(file) for path, file in (self._installed() | found).items()}, [])
        return {path: file for path, file in found.items() if file.type != tarfile.SYMTYPE or site.resolve(path)}

    def _installed(self) -> dict[str, InstalledFile]:
        return {**self.beside, **self.mirrored}

    def _file(self, entry: Entry) -> InstalledFile | None:
        """Return what an entry of the plan becomes; None for a link to a file of a package that is not there."""
        path = f"{self.plan.tree}/{entry.path}"
        if entry.kind is Kind.DIRECTORY:
            return directory(path)
        if entry.treatment is not Treatment.LINK_TO or not entry.target:
            packed = self.packed.packed[entry.path]
            return InstalledFile(
                path, int(packed.mode, 8) & _NOT_FOR_OTHERS, self.packed.runs[entry.path], packed.sha256
            )
        source = posixpath.normpath(posixpath.join(posixpath.dirname(path), entry.target))
        if f"{source}/".startswith(f"{self.plan.tree}/"):
            return symbolic_link(path, entry.target)
        file = self._installed().get(source)
        return _link_or_copy(path, file) if file else None

    def _mirror(self, taken: set[str]) -> dict[str, InstalledFile]:
        """Return links to all files of the package by GPU target, where the devel package itself has nothing."""
        places = {f"{self.plan.tree}{source.removeprefix(self.target_tree)}": source for source in self.mirrored}
        return {path: _link_or_copy(path, self.mirrored[places[path]]) for path in sorted(places.keys() - taken)}


def _is_made(entry: Entry) -> bool:
    return entry.treatment is not Treatment.DROP


def _found(file: InstalledFile) -> Found:
    return Found(file.path, _KINDS[file.type], "", link=file.link or None)


def _link_or_copy(path: str, file: InstalledFile) -> InstalledFile:
    """Return what leads to a file of another package: a symbolic link, or a copy of a program."""
    if _is_program(file):
        return replace(file, path=path)
    return symbolic_link(path, posixpath.relpath(file.path, posixpath.dirname(path)))


@functools.cache
def _is_program(file: InstalledFile) -> bool:
    """Whether a file is a program or a script; libraries may be executable, too."""
    if not file.mode & 0o111 or ".so" in PurePosixPath(file.path).suffixes:
        return False
    return _beginning(file.run).startswith(_PROGRAMS)


def _beginning(run: Run) -> bytes:
    """Return the first bytes that a run inflates to. Raises InflateError if it is damaged."""
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(next(run.chunks(), b""), max(map(len, _PROGRAMS)))
    except zlib.error as error:
        raise InflateError(str(error)) from None


def unpacked_wheel(wheel: InstalledWheel, tree: DevelTree) -> list[InstalledFile]:
    """Return the files of a devel package, as an image has them: without its archive, and with its tree.

    RECORD names the tree's directory, too: an installer takes a link for missing once the package that it leads to is
    gone, but removes a directory that RECORD names. Raises ToolError for the wheel of another package.
    """
    archives = [found for file in wheel.files if (found := _ARCHIVE.fullmatch(file.path))]
    if len(archives) != 1:
        raise ToolError(f"{wheel.wheel}: {len(archives)} archives _devel.tar; expected one. Build the wheel again")
    package = archives[0][1]
    kept = [file for file in wheel.files if not file.path.startswith(f"{package}/{_BESIDE_ARCHIVE}")]
    stamp = text_file(f"{tree.plan.tree}/{DEVEL_STAMP}", json.dumps({"package": package}).encode() + b"\n")
    files = (*kept, *tree.files().values(), stamp)
    return replace(wheel, files=files).with_record([tree.plan.tree])


def target_links(tree: DevelTree, target_tree: str, mirrored: Files) -> Iterator[InstalledFile]:
    """Yield what the devel tree has in addition when the package for a GPU target is there: links to its files.

    The archive's own links are among them if they lead somewhere only now.
    """
    below = tree.files()
    whole = replace(tree, target_tree=target_tree, mirrored=mirrored).files()
    yield from (file for path, file in whole.items() if path not in below)
