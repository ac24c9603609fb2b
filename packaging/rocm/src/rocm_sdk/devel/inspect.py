"""Looking for faults in a development tree, for `rocm-sdk test`."""

from __future__ import annotations

from pathlib import Path

from ..record import read_record
from . import devel_root
from .layout import DevelLayout, find_layout
from .links import is_link_or_copy, wanted_hard_links
from .state import TreeContent, find_damage, read_content
from .user_files import find_foreign


def find_faults() -> list[str]:
    """Make the tree if need be, and return what is wrong with it, each in a few words.

    A plain tree has no faults of its own: its files are in RECORD, which another check reads.
    """
    devel_root()
    layout = find_layout()
    if layout.is_plain:
        return []
    content = read_content(layout)
    if content is None:
        return [f"{layout.content_file} is missing"]
    damaged = [f"{path} is missing, or not of its size" for path in find_damage(layout, content)]
    return [*damaged, *_wrong_links(layout, content)]


def find_user_files() -> list[str]:
    """Return what is in the tree and no package's: uninstalling leaves it there."""
    layout = find_layout()
    if layout.is_plain:
        return []
    return list(find_foreign(layout, {row.path for row in read_record(layout.record)}))


def _wrong_links(layout: DevelLayout, content: TreeContent) -> list[str]:
    links = sorted(wanted_hard_links(content.archive, layout).items())
    return [f"{path} is not {source}" for path, source in links if not _is_same(layout.home, path, source)]


def _is_same(home: Path, path: str, source: str) -> bool:
    return (home / source).exists() and is_link_or_copy(home / path, home / source)
