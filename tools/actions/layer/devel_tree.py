"""The tree of a devel package as it is once its links are made, from its wheel and those beside it.

A layer cannot have a hard link to a file of another layer. So the links are what `rules/runtime/devel_tree.py` makes
where no hard links are possible: a symbolic link leads to the file of another package. But a program is copied, because
it looks for its headers and libraries beside the file that was started. The copy's bytes come from the other package's
wheel.

Paths are relative to site-packages.
"""

import functools
import json
import posixpath
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from lib.common.program import ToolError
from lib.deflate.library import InflateError
from lib.wheel.deflated_run import Run, join
from lib.wheel.devel_tree import ARCHIVE, LINKS, MANIFEST, STATE, Link, Manifest, facts_of, read_json, wanted_links
from tools.actions.layer.installed_wheel import (
    InstalledFile,
    InstalledWheel,
    in_image,
    ordered,
    symbolic_link,
    text_file,
)

#: How programs and scripts begin.
_PROGRAMS = (b"\x7fELF", b"#!")

#: Files by path.
Files = Mapping[str, InstalledFile]


@dataclass(frozen=True)
class DevelTree:
    """A devel package, and the files of the packages that are installed beside it."""

    wheel: InstalledWheel
    beside: Files
    #: The files of a package that users choose by GPU target.
    target: Files = field(default_factory=dict)

    def layer(self) -> list[InstalledFile]:
        """Return the files of the layer: the wheel's, and links to what is there."""
        return ordered(self.wheel.wheel, [*self._listed(), *self._in_image()])

    def links_layer(self) -> list[InstalledFile]:
        """Return what there is in addition with the package by GPU target, and what lists it."""
        below = DevelTree(self.wheel, self.beside)._made()
        made = self._in_image(self._made().keys() - below.keys())
        record = in_image(text_file(self.wheel.record, b""), self.wheel.scheme.site_packages).path
        return ordered(self.wheel.wheel, [*(file for file in self._listed() if file.path == record), *made])

    @functools.cached_property
    def _own(self) -> Files:
        return {file.path: file for file in self.wheel.files}

    @functools.cached_property
    def _site(self) -> Files:
        return {**self.beside, **self.target, **self._own}

    def _is_there(self, path: str) -> bool:
        return path in self._site or path in self._folders

    @functools.cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(
            "/".join(parts[:n]) for parts in (path.split("/") for path in self._site) for n in range(1, len(parts))
        )

    @functools.cached_property
    def _manifests(self) -> list[Manifest]:
        """Return the manifests, the devel package's first. Raises ToolError if there is none, or an archive."""
        own = [path for path in self._own if path.endswith(f"/{MANIFEST}") and path.count("/") == 2]
        if archives := [path for path in self._own if posixpath.basename(path) == ARCHIVE]:
            raise ToolError(
                f"{self.wheel.wheel}: {archives[0]} has the tree; expected files. Build the wheel without an archive"
            )
        if len(own) != 1:
            raise ToolError(f"{self.wheel.wheel}: {len(own)} manifests {MANIFEST}; expected one. Build the wheel again")
        manifest = self._manifest(own[0], "")
        places = {f"{tree}/{LINKS}" for tree in manifest.trees}
        others = [path for path in sorted(self._site) if posixpath.dirname(path) in places and path.endswith(".json")]
        return [manifest, *(self._manifest(path, manifest.tree) for path in others)]

    def _manifest(self, path: str, tree: str) -> Manifest:
        text = b"".join(join([self._site[path].run]).inflated()).decode()
        return Manifest(path, read_json(text), tree)

    @functools.cached_property
    def _links(self) -> dict[str, Link]:
        return wanted_links(self._manifests, self._own, self._is_there)[0]

    def _made(self) -> dict[str, InstalledFile]:
        """Return links, and copies of programs."""
        made = {}
        for path, link in self._links.items():
            file = self._site.get(link.source)
            is_copy = not link.is_symbolic and file is not None and _is_program(file)
            made[path] = replace(file, path=path) if is_copy and file else symbolic_link(path, link.text)
        return made

    def _state(self) -> InstalledFile:
        """Return the state file, which records that the links exist."""
        manifests = self._manifests
        facts = facts_of(manifests, self._links, self._is_there)
        facts["manifests"] = {one.path: self._site[one.path].run.size for one in manifests}
        marks = {path: file.link or [0, file.run.size] for path, file in self._made().items()}
        text = "".join(f"{json.dumps(one, separators=(',', ':'))}\n" for one in (facts, marks))
        return text_file(f"{manifests[0].path.removesuffix(MANIFEST)}{STATE}", text.encode())

    def _listed(self) -> list[InstalledFile]:
        """Return the wheel's files, with a RECORD that lists all.

        It names the tree's directory, too: an installer takes a link for missing once the package that it leads to is
        gone, but removes a directory that RECORD names.
        """
        return self.wheel.with_record([*self._made(), self._state().path, self._manifests[0].tree])

    def _in_image(self, paths: set[str] | None = None) -> Iterator[InstalledFile]:
        """Yield what is made, at some paths or at all, and the state."""
        made = [file for path, file in self._made().items() if paths is None or path in paths]
        yield from (in_image(file, self.wheel.scheme.site_packages) for file in [*made, self._state()])


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
