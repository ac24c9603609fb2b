"""Publishes: compares, sends what is missing, and last the pages, so that no page names what is not there yet.

Whatever interrupts this, what is visible is whole: an older index, or the new one. Calling it again does the rest.
"""

import posixpath
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lib.common.command import FoundError
from lib.common.program import size_text
from wheels.publish.files import LocalFile, is_distribution, is_page, is_uploaded, is_variant, page_order
from wheels.publish.place import ConflictError, Place, TakenError
from wheels.publish.progress import Progress

REMEDY = """\
Published files never change: lock files and caches contain their hashes. Build another version, or publish to another
place (--run-id, --group)."""


_REFUSED = "a package index takes no wheel variants"


@dataclass(frozen=True)
class Comparison:
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
    #: Wheel variants that the place does not take.
    refused: tuple[str, ...] = ()


def _is_there(file: LocalFile, place: Place, listing: Mapping[str, int | None]) -> bool:
    """Whether the place has a file with these bytes. The digest is only asked for where it can be the same."""
    if file.path not in listing or listing[file.path] not in (None, file.size):
        return False
    return place.sha256(file.path) == file.sha256


def _unlisted(files: Sequence[LocalFile], listing: Mapping[str, int | None]) -> tuple[str, ...]:
    """Return published distributions that are not among `files`, but lie in a directory with some of `files`."""
    own = {file.path for file in files}
    directories = {posixpath.dirname(path) for path in own if is_distribution(path)}
    found = (path for path in listing if is_distribution(path) and posixpath.dirname(path) in directories)
    return tuple(sorted(path for path in found if path not in own))


def compare(files: Sequence[LocalFile], place: Place) -> Comparison:
    """Compare a directory's files with a place."""
    listing = place.listing()
    refused: tuple[str, ...] = ()
    if place.keeps_index:
        refused = tuple(file.path for file in files if is_variant(file.path) and "/" not in file.path)
        files = [file for file in files if is_uploaded(file.path)]
    there = [file for file in files if _is_there(file, place, listing)]
    known = {file.path for file in there}
    absent = [file for file in files if file.path not in known]
    return Comparison(
        missing=tuple(file for file in absent if not is_page(file.path) and file.path not in listing),
        pages=tuple(sorted((file for file in absent if is_page(file.path)), key=page_order)),
        there=tuple(there),
        conflicts=tuple(
            (file, place.sha256(file.path)) for file in absent if not is_page(file.path) and file.path in listing
        ),
        unlisted=() if place.keeps_index else _unlisted(files, listing),
        refused=refused,
    )


def conflict(place: str, conflicts: Sequence[tuple[LocalFile, str]]) -> ConflictError:
    """Make the error for files that are published with other bytes: it names each, both digests, and the remedy."""
    lines = [f"{place} has other bytes than this build, under the same name:"]
    for file, sha256 in conflicts:
        lines += [f"  {file.path}", f"    published:  sha256 {sha256}", f"    this build: sha256 {file.sha256}"]
    return ConflictError("\n".join([*lines, REMEDY]))


@dataclass(frozen=True)
class Options:
    """How to publish."""

    #: Only say what would be done.
    dry_run: bool = False
    #: Go on where the place has distributions that the new index will not list.
    leave_unlisted: bool = False


def check(found: Comparison, place: Place, options: Options) -> None:
    """Raise ConflictError or ToolError if it cannot be published; nothing was sent yet."""
    if found.conflicts:
        raise conflict(place.shown, found.conflicts)
    if found.unlisted and not options.leave_unlisted:
        names = "\n".join(f"  {path}" for path in found.unlisted)
        raise FoundError(
            f"{place.shown} has distributions that are not of this build, and that its index would no longer list:\n"
            f"{names}\nPublish into another place (--run-id, --group), or leave them there unlisted (--leave-unlisted)"
        )


def _check_alone(files: Sequence[LocalFile], place: Place, options: Options) -> None:
    """Raise ToolError if another build was published at the same time: one index can list only one of them.

    Of two publishers at least one sees the files of the other, since each looks after it has sent its own. Each looks
    once more behind its pages: a place without locks may have let a smaller build write over a larger build's pages.
    """
    others = () if place.keeps_index or options.leave_unlisted else _unlisted(files, place.listing())
    if others:
        names = "\n".join(f"  {path}" for path in others)
        raise FoundError(
            f"{place.shown}: another build was published here at the same time, but an index lists only one. "
            f"Files of the other build:\n{names}\nRemove the files of one build, and publish the other again"
        )


def _send(file: LocalFile, place: Place, progress: Progress) -> None:
    """Send a file that was not there when we looked: another publisher may have been faster."""
    progress.begin(file.path, file.size)
    try:
        place.put(file, progress.sent)
    except TakenError:
        published = place.sha256(file.path)
        if published != file.sha256:
            raise conflict(place.shown, [(file, published)]) from None
        progress.end("there")
    else:
        progress.end("sent")


def describe(found: Comparison, place: str) -> str:
    """Write what publishing would do, a line per file."""
    lines = [f"send   {file.path}: {size_text(file.size)}" for file in found.missing]
    lines += [f"page   {file.path}: {size_text(file.size)}" for file in found.pages]
    lines += [f"there  {file.path}" for file in found.there]
    lines += [f"leave  {path}: {_REFUSED}" for path in found.refused]
    size = size_text(sum(file.size for file in found.missing))
    lines.append(f"would send {len(found.missing)} files ({size}) and {len(found.pages)} pages to {place}")
    return "\n".join(lines)


def publish(files: Sequence[LocalFile], place: Place, options: Options, progress: Progress | None = None) -> str:
    """Make a place hold these files; return what was done, for people.

    Raises ConflictError if something else is published under the name of one of them, before anything is sent if that
    was so at the start; ToolError as the place does.
    """
    found = compare(files, place)
    check(found, place, options)
    if options.dry_run:
        return describe(found, place.shown)
    place.tidy()
    progress = progress or Progress(len(found.missing) + len(found.pages), sys.stderr)
    for file in found.missing:
        _send(file, place, progress)
    with place.only_publisher():
        _check_alone(files, place, options)
        for file in found.pages:
            progress.begin(file.path, file.size)
            place.put_page(file, progress.sent)
            progress.end("page")
        _check_alone(files, place, options)
    was_there = f"; {len(found.there)} were there" if found.there else ""
    was_there += f"; {len(found.refused)} were left out: {_REFUSED}" if found.refused else ""
    sent = f"{len(found.missing)} files and {len(found.pages)} pages ({size_text(progress.total)})"
    return f"published to {place.shown}: {sent}{was_there}"
