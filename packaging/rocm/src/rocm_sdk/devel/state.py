"""What the development tree is known to hold, and from which packages it was made.

Two files in the tree. The state is small, is written last, and so says that everything before it is done; every call
compares it with what is installed now. The content is only read when something changes.

The state shows what an interruption left. Without a state the tree is not whole, and is made again. A state that says
`changing` means that all of the archive is there, but that the links must be checked.
"""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..distributions import SELECTED_FILE
from ..installation import normalize_name
from ..record import Row, format_record
from ..version import DISTRIBUTIONS_FILE
from .glance import FORMAT, TARGET_VARIABLE
from .layout import DevelLayout, distribution_names
from .replace import replace_file

_OWN_PACKAGE = Path(__file__).parent.parent


@dataclass(frozen=True)
class Content:
    """What an archive holds; all paths are relative to site-packages, with `/`.

    `files` maps a path to the size in bytes, `outward` to the runtime package's file that it stands for, `symlinks` to
    the link's text.
    """

    files: dict[str, int] = field(default_factory=dict)
    directories: list[str] = field(default_factory=list)
    outward: dict[str, str] = field(default_factory=dict)
    symlinks: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class State:
    """Marks, each [size in bytes, mtime in ns]: of the archive, and of each package's RECORD by its metadata's name.

    `changing` is true while links are made and removed. `targets` names the metadata of the target packages, in the
    order in which their files were taken: of a path that several have, the first one's. `basis` is what else decides
    which packages these are: while none of it has changed, `glance` need not know how.
    """

    archive: list[int]
    packages: dict[str, list[int]]
    changing: bool = False
    targets: list[str] = field(default_factory=list)
    basis: dict[str, Any] = field(default_factory=dict)
    format: int = FORMAT


@dataclass(frozen=True)
class TreeContent:
    """What the archive held, and the links (paths relative to site-packages) that were made by the last call.

    `symbolic` says that hard links were asked for where there can be none, so that symbolic ones were made. `marks` has
    [size in bytes, mtime in ns] of files and links as they were when they were made.
    """

    archive: Content
    links: list[str]
    symbolic: bool = False
    marks: dict[str, list[int]] = field(default_factory=dict)

    def paths(self, layout: DevelLayout) -> set[str]:
        """Return every path of the tree that has to be there: files, links, and directories that hold neither."""
        paths = self._files(layout)
        return paths.union(set(self.archive.directories) - parents_of(paths))

    def recorded_paths(self, layout: DevelLayout) -> set[str]:
        """Return every path that RECORD has to list: files and links, and the tree itself if links are symbolic.

        When the package that such a link leads to is uninstalled first, pip takes the link for missing and leaves it;
        but installers remove a directory that RECORD names, with all that is in it. So no other directory is listed:
        users may have put files into an empty directory.
        """
        return self._files(layout).union([layout.tree] if self.symbolic else [])

    def _files(self, layout: DevelLayout) -> set[str]:
        own = {f"{layout.tree}/{path.name}" for path in (layout.state_file, layout.content_file)}
        return own.union(self.archive.files, self.links)


def parents_of(paths: Iterable[str]) -> set[str]:
    """Return every directory above the paths, which are relative and have `/`."""
    found = {""}
    for path in paths:
        parent = posixpath.dirname(path)
        while parent not in found:
            found.add(parent)
            parent = posixpath.dirname(parent)
    return found


def is_current(layout: DevelLayout) -> bool:
    """Return whether the tree is whole and made from what is installed now."""
    state = read_state(layout)
    if state is None or state.changing:
        return False
    if state.packages != mark_packages(layout) or state.targets != order_targets(layout):
        return False
    return is_same_archive(layout, state)


def is_at_a_glance(layout: DevelLayout) -> bool:
    """Return whether the state says what `glance` wants to know; of a tree elsewhere it wants nothing."""
    state = read_state(layout)
    return layout.is_elsewhere or (state is not None and state.basis == describe_basis(layout))


def is_same_archive(layout: DevelLayout, state: State) -> bool:
    """Return whether the tree was made from the archive that is there; to delete it afterwards is allowed."""
    archive = layout.find_archive()
    return archive is None or state.archive == mark_file(archive)


def mark_packages(layout: DevelLayout) -> dict[str, list[int]]:
    """Return the marks of the packages as they are now: equal marks mean that nothing came, went or changed."""
    packages = {layout.devel, *layout.runtime, *layout.targets}
    return dict(sorted((package.dist_info.name, mark_file(package.record)) for package in packages))


def order_targets(layout: DevelLayout) -> list[str]:
    """Return the names of the target packages' metadata as they are preferred now: choosing again may change it."""
    return [package.dist_info.name for package in layout.targets]


def describe_basis(layout: DevelLayout) -> dict[str, Any]:
    """Return the wanted target, the names of the build's distributions, and marks of files by path in site-packages.

    The files are the metadata of all such distributions that are there, in whatever version, and this package's data.
    """
    names = distribution_names()
    found = [path for path in layout.site.glob("*.dist-info") if normalize_name(path.name.partition("-")[0]) in names]
    data = [layout.site / _OWN_PACKAGE.name / name for name in (DISTRIBUTIONS_FILE, SELECTED_FILE)]
    files = [*sorted(path / "METADATA" for path in found), *data]
    marks = {path.relative_to(layout.site).as_posix(): mark_file(path) for path in files}
    return {"target": os.environ.get(TARGET_VARIABLE, ""), "distributions": names, "marks": marks}


def mark_file(path: Path) -> list[int]:
    """Return [size in bytes, mtime in ns] of a file, [] if it is not there."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return []
    return [status.st_size, status.st_mtime_ns]


def read_state(layout: DevelLayout) -> State | None:
    """Return the state, or None if the tree is not whole or was made by another version of this code."""
    fields = _read(layout.state_file)
    if fields is None:
        return None
    return State(fields["archive"], fields["packages"], fields["changing"], fields["targets"], fields["basis"])


def read_content(layout: DevelLayout) -> TreeContent | None:
    """Return the content, or None if it is lost or was written by another version of this code."""
    fields = _read(layout.content_file)
    if fields is None:
        return None
    return TreeContent(Content(**fields["archive"]), fields["links"], fields["symbolic"], fields["marks"])


def find_damage(layout: DevelLayout, content: TreeContent) -> list[str]:
    """Return the paths that are missing or not of their size; after a power failure, say: files are not synced."""
    sizes = content.archive.files
    return [path for path in sorted(content.paths(layout)) if not _is_whole(layout.home / path, sizes.get(path))]


def _is_whole(path: Path, size: int | None) -> bool:
    try:
        found = path.stat().st_size
    except OSError:
        return False
    return size is None or found == size


def write_state(layout: DevelLayout, state: State) -> None:
    """Declare the tree whole, or changing."""
    replace_file(layout.state_file, json.dumps(asdict(state), separators=(",", ":")), layout.journal)


def write_content(layout: DevelLayout, content: TreeContent) -> None:
    """Keep the content for later calls."""
    # vars, because asdict copies every path.
    fields = {**vars(content), "archive": vars(content.archive), "format": FORMAT}
    replace_file(layout.content_file, json.dumps(fields, separators=(",", ":")), layout.journal)


def write_rows(layout: DevelLayout, rows: Iterable[Row]) -> None:
    """Replace the RECORD that lists the tree: for good, because without it nothing could be uninstalled."""
    replace_file(layout.record, format_record(rows), layout.journal, durable=True)


def _read(path: Path) -> dict[str, Any] | None:
    """Return what this version of this code wrote, or None."""
    try:
        fields: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return fields if fields.get("format") == FORMAT else None
