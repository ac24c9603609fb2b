"""What the development tree is known to hold, and from which packages it was made.

Two files in the tree. The state is small, is written last, and so says that everything before it is done; every call
compares it with what is installed now. The content is only read when something changes.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .layout import DevelLayout

FORMAT = 1


@dataclass(frozen=True)
class Content:
    """What an archive holds; all paths are relative to site-packages, with `/`.

    `outward` maps a path to the runtime package's file that it stands for, `symlinks` a path to the link's text.
    """

    files: list[str] = field(default_factory=list)
    directories: list[str] = field(default_factory=list)
    outward: dict[str, str] = field(default_factory=dict)
    symlinks: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class State:
    """Marks, each [size in bytes, mtime in ns]: of the archive, and of each package's RECORD by its metadata's name."""

    archive: list[int]
    packages: dict[str, list[int]]
    format: int = FORMAT


@dataclass(frozen=True)
class TreeContent:
    """What the archive held, and the links (paths relative to site-packages) that were made by the last call."""

    archive: Content
    links: list[str]

    def recorded_paths(self, layout: DevelLayout) -> set[str]:
        """Return every path of the tree that RECORD has to list: files, links, and directories that hold neither."""
        own = {f"{layout.tree}/{path.name}" for path in (layout.state_file, layout.content_file)}
        paths = own.union(self.archive.files, self.links)
        return paths.union(set(self.archive.directories) - _parents(paths))


def _parents(paths: Iterable[str]) -> set[str]:
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
    return state is not None and is_same_archive(layout, state) and state.packages == mark_packages(layout)


def is_same_archive(layout: DevelLayout, state: State) -> bool:
    """Return whether the tree was made from the archive that is there; to delete it afterwards is allowed."""
    archive = layout.find_archive()
    return archive is None or state.archive == mark_file(archive)


def mark_packages(layout: DevelLayout) -> dict[str, list[int]]:
    """Return the marks of the packages as they are now: equal marks mean that nothing came, went or changed."""
    packages = {layout.devel, *layout.runtime, *layout.targets}
    return dict(sorted((package.dist_info.name, mark_file(package.record)) for package in packages))


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
    if fields is None or fields.get("format") != FORMAT:
        return None
    return State(fields["archive"], fields["packages"])


def read_content(layout: DevelLayout) -> TreeContent | None:
    """Return the content, or None if it is lost."""
    fields = _read(layout.content_file)
    return None if fields is None else TreeContent(Content(**fields["archive"]), fields["links"])


def write_state(layout: DevelLayout, state: State) -> None:
    """Declare the tree whole."""
    _write(layout.state_file, asdict(state))


def write_content(layout: DevelLayout, content: TreeContent) -> None:
    """Keep the content for later calls."""
    _write(layout.content_file, asdict(content))


def _read(path: Path) -> dict[str, Any] | None:
    try:
        fields: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return fields


def _write(path: Path, fields: Mapping[str, Any]) -> None:
    temporary = path.with_name(path.name + ".new")
    with open(temporary, "w", encoding="utf-8") as stream:
        json.dump(fields, stream, separators=(",", ":"))
    temporary.replace(path)
