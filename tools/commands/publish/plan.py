"""What is to be done so that a place holds what a directory holds: a comparison, without any change.

Files are the same if their SHA-256 is, whatever their times are.
"""

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tools.commands.publish.files import LocalFile, is_distribution, is_page, page_order
from tools.commands.publish.target import ConflictError, Target

REMEDY = """\
What is published never changes: lock files and caches hold its hashes. Publish this build under another version
(--//packaging:version) or into another place (--run-id, --group)."""


@dataclass(frozen=True)
class Plan:
    """What is to be done, in this order."""

    #: Files that the place lacks.
    missing: tuple[LocalFile, ...]
    #: Pages that the place lacks or has otherwise; those that lead to others behind them.
    pages: tuple[LocalFile, ...]
    #: Files and pages that are there already.
    there: tuple[LocalFile, ...]
    #: Files that are there with other bytes, and the SHA-256 that those have: nothing can be done.
    conflicts: tuple[tuple[LocalFile, str], ...]
    #: Distributions that are there, but not in the directory: the new pages will not list them.
    unlisted: tuple[str, ...]


def _is_there(file: LocalFile, target: Target, listing: Mapping[str, int | None]) -> bool:
    """Whether the place has a file with these bytes. The digest is only asked for where it can be the same."""
    if file.path not in listing or listing[file.path] not in (None, file.size):
        return False
    return target.sha256(file.path) == file.sha256


def _unlisted(files: Sequence[LocalFile], listing: Mapping[str, int | None]) -> tuple[str, ...]:
    """Find distributions of other builds, in directories that this build fills."""
    own = {file.path for file in files}
    directories = {posixpath.dirname(path) for path in own if is_distribution(path)}
    found = (path for path in listing if is_distribution(path) and posixpath.dirname(path) in directories)
    return tuple(sorted(path for path in found if path not in own))


def make_plan(files: Sequence[LocalFile], target: Target) -> Plan:
    """Compare a directory's files with a place."""
    listing = target.listing()
    if target.keeps_index:
        # What lies in a directory of its own is for an index of its own: beside the rest, installers would prefer it.
        files = [file for file in files if is_distribution(file.path) and "/" not in file.path]
    there = [file for file in files if _is_there(file, target, listing)]
    known = {file.path for file in there}
    absent = [file for file in files if file.path not in known]
    return Plan(
        missing=tuple(file for file in absent if not is_page(file.path) and file.path not in listing),
        pages=tuple(sorted((file for file in absent if is_page(file.path)), key=page_order)),
        there=tuple(there),
        conflicts=tuple(
            (file, target.sha256(file.path)) for file in absent if not is_page(file.path) and file.path in listing
        ),
        unlisted=() if target.keeps_index else _unlisted(files, listing),
    )


def conflict(place: str, conflicts: Sequence[tuple[LocalFile, str]]) -> ConflictError:
    """Make the error for files that are published with other bytes: it names each, both digests, and the remedy."""
    lines = [f"{place} has other bytes than this build, under the same name:"]
    for file, sha256 in conflicts:
        lines += [f"  {file.path}", f"    published:  sha256 {sha256}", f"    this build: sha256 {file.sha256}"]
    return ConflictError("\n".join([*lines, REMEDY]))
