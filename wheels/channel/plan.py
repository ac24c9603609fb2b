"""Computes what a channel becomes: pure functions from its state, so that `--dry-run` says what will happen.

add(channel, "nightly", files, now)           a ChannelChange
retire(channel, "nightly", 30 * DAY, 1, now)  a ChannelChange
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Final

from packaging.version import Version

from lib.common.command import FoundError
from lib.common.documents import Time, time_text
from lib.common.program import named, size_text
from lib.index.requirements import Shelf, heights, required, unmet
from wheels.channel.complaints import REMEDIES, Complaint, complaints_about, unmet_requirements
from wheels.channel.local_files import LocalFile
from wheels.channel.model import DAY, STORE, Build, Channel, File, Promotion, StreamState, matches

#: Units of time on the command line, in seconds.
UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": DAY}
GROW: Final = "grow"
SHRINK: Final = "shrink"


@dataclass(frozen=True)
class ChannelChange:
    """Change that a command makes, and the reason."""

    after: Channel
    """The state that it leads to; the present one if nothing changes."""
    streams: dict[str, str] = field(default_factory=dict)
    """Streams whose pages change, and whether they grow or shrink."""
    names: tuple[str, ...] = ()
    """Files that pages begin to list, or list no longer."""
    uploads: tuple[LocalFile, ...] = ()
    """Files that pages will list, in case the store lacks one."""
    deletes: tuple[str, ...] = ()
    """Paths in the store that go when the new state is there."""
    lines: tuple[str, ...] = ()
    """What happens, for people."""
    now: Time | None = None
    """The present of the times that it sets, if it sets when files go: they count from when the pages are written."""


def refuse(complaints: Sequence[Complaint]) -> None:
    """Raise FoundError if there are complaints: it names the first ones and the remedy of each kind."""
    if complaints:
        said = named([f"  {one}" for one in complaints], "\n", 5)
        remedies = dict.fromkeys(f"{REMEDIES[one.kind]}." for one in complaints)
        raise FoundError("\n".join(["nothing was changed:", said, *remedies]))


def _check_bytes(channel: Channel, files: Iterable[File]) -> None:
    """Raise FoundError for names that have, or had, other bytes."""
    lines = []
    for file in files:
        retired = channel.digests.get(file.filename)
        known = channel.files[file.filename].sha256 if file.filename in channel.files else retired
        if known not in (None, file.sha256):
            where = "retired" if retired else "in the channel"
            lines += [f"  {file.filename}", f"    {where}: sha256 {known}", f"    this build: sha256 {file.sha256}"]
    if lines:
        lines = ["the channel has, or had, other bytes under the same name:", *lines]
        raise FoundError("\n".join([*lines, "Published files never change, retired or not. Build another version"]))


def _as_known(channel: Channel, one: LocalFile) -> LocalFile:
    """Return a file with the provenance that the channel has of it: what is published never changes."""
    known = channel.files.get(one.file.filename)
    if known is None or known.provenance_sha256 == one.file.provenance_sha256:
        return one
    return replace(one, file=replace(one.file, provenance_sha256=known.provenance_sha256), provenance=b"")


def add(
    channel: Channel,
    name: str,
    files: Sequence[LocalFile],
    now: int,
    *,
    older: bool = False,
    others: Sequence[tuple[File, str]] = (),
    promoted: Promotion | None = None,
) -> ChannelChange:
    """Return what adding a build does; `others` are files that are there or elsewhere, each with its index.

    Raises FoundError for other bytes under a known name, for what nothing meets, and the other complaints of a build.
    """
    stream = channel.stream(name)
    files = [_as_known(channel, one) for one in files]
    given = [*((one.file, one.directory) for one in files), *others]
    brought = {one.filename: directory for one, directory in given}
    described = [one for one, _ in given]
    _check_bytes(channel, described)
    fresh = {file: place for file, place in brought.items() if file not in stream.files or file in stream.leaving}
    if not fresh:
        return ChannelChange(channel, uploads=tuple(files), lines=(f"{name}: all {len(brought)} files are listed",))
    selectors = [one.selector for one in files if one.selector]
    build = Build(now, brought, older, None if older or not selectors else json.loads(selectors[0]), promoted)
    leaving = {file: due for file, due in stream.leaving.items() if file not in brought}
    after = replace(
        channel,
        serial=channel.serial + 1,
        streams={**channel.streams, name: replace(stream, builds=(*stream.builds, build), leaving=leaving)},
        files={**channel.files, **{file.filename: file for file in described}},
        gone={file: since for file, since in channel.gone.items() if file not in brought},
        digests={file: digest for file, digest in channel.digests.items() if file not in brought},
    )
    added = [file for file in described if file.filename in fresh and not file.is_variant_list]
    refuse(complaints_about(after, name, added, older=older))
    lines = [f"add    {file}: {size_text(after.files[file].size)}" for file in sorted(fresh)]
    lines += [f"there  {file}" for file in sorted(brought.keys() - fresh.keys())]
    there = {one.project for one in after.listing(name)}
    if outside := sorted({need.project for file in added for need in file.needs} - there):
        lines.append(f"needs  {named(outside, most=9)}, which another index has to have")
    return ChannelChange(after, {name: GROW}, tuple(sorted(fresh)), tuple(files), lines=tuple(lines))


def keep(channel: Channel, name: str, kept: Collection[str], now: int) -> ChannelChange:
    """Return what listing only some files does: what an aggregate's sources have unlisted, it does not list either."""
    unlisted = frozenset(channel.streams[name].files.keys() - kept)
    if not unlisted:
        return ChannelChange(channel)
    streams = {**channel.streams, name: channel.streams[name].without(unlisted)}
    after = replace(channel, serial=channel.serial + 1, streams=streams)
    after = replace(after, gone={**channel.gone, **dict.fromkeys(unlisted - after.listed, now)})
    lines = tuple(f"unlist {file}" for file in sorted(unlisted))
    return ChannelChange(after, {name: SHRINK}, tuple(sorted(unlisted)), lines=lines, now=now)


_IN_STORE: Final = re.compile(rf"{STORE}[0-9a-f]{{64}}/[^/]+")


def retire(
    channel: Channel, name: str, older_than: int, keep_last: int, now: int, ages: Mapping[str, float] | None = None
) -> ChannelChange:
    """Return what retiring builds does that are so many seconds old, and what earlier calls have left to this one.

    The newest builds stay, so many as `keep_last` says. `ages` are seconds since the files in the store were written:
    of what a killed command has left, the old files go.
    """
    stream, lines = _begin_to_leave(channel, name, older_than, keep_last, now)
    # Whoever was added meanwhile may need what is leaving.
    wanted, why = _needed(channel, name, frozenset(stream.leaving))
    lines += why
    leaving = {file: due for file, due in stream.leaving.items() if file not in wanted}
    # However long ago it was due: a client may have read a second ago what requires it.
    needs = required((channel.files[file] for file in leaving), Shelf(channel.listing(name)))
    levels = heights(leaving, needs)
    unlisted = frozenset(file for file, due in leaving.items() if due <= now and not levels[file])
    if unlisted:
        leaving = {file: max(due, now + levels[file] * channel.settle) for file, due in leaving.items()}
    stream = replace(stream, leaving=leaving)
    lines += [f"wait   {file}: until {time_text(due)}" for file, due in sorted(leaving.items()) if file not in unlisted]
    lines += [f"retire {file}" for file in sorted(unlisted)]
    after = replace(channel, streams={**channel.streams, name: stream.without(unlisted)})
    gone = {file: channel.gone.get(file, now) for file in channel.files if file not in after.listed}
    deleted = {file for file, since in gone.items() if now - since >= channel.grace and file in channel.gone}
    lines += [f"delete {file}: {size_text(channel.files[file].size)}" for file in sorted(deleted)]
    known = channel.stored
    old = sorted(path for path, age in (ages or {}).items() if age >= channel.grace)
    left_over = [path for path in old if path not in known and _IN_STORE.fullmatch(path)]
    lines += [f"delete {path}: no stream has listed it" for path in left_over]
    after = replace(
        after,
        files={file: one for file, one in channel.files.items() if file not in deleted},
        gone={file: since for file, since in gone.items() if file not in deleted},
        digests={**channel.digests, **{file: channel.files[file].sha256 for file in deleted}},
    )
    if after == channel and not left_over:
        rest = f"builds are younger, or among the last {keep_last}"
        return ChannelChange(channel, lines=(*lines, f"{name}: nothing to retire: {rest}"))
    return ChannelChange(
        after=replace(after, serial=channel.serial + 1),
        streams={name: SHRINK} if unlisted else {},
        names=tuple(sorted(unlisted)),
        deletes=(*(path for file in sorted(deleted) for path in channel.files[file].stored_digests), *left_over),
        lines=tuple(lines),
        now=now,
    )


def _begin_to_leave(
    channel: Channel, name: str, older_than: int, keep_last: int, now: int
) -> tuple[StreamState, list[str]]:
    """Let the files of the builds to retire leave, except those that somebody needs."""
    stream = channel.stream(name)
    builds = [one for one in stream.builds if not one.files.keys() <= stream.leaving.keys()]
    old = [one for one in builds[:-keep_last] if now - one.added >= older_than]
    staying = {file for one in builds if one not in old for file in one.files}
    chosen = frozenset(file for one in old for file in one.files) - staying - stream.leaving.keys()
    wanted, lines = _needed(channel, name, chosen | stream.leaving.keys(), chosen)
    chosen -= wanted
    return replace(stream, leaving={**stream.leaving, **dict.fromkeys(chosen, now)}), lines


def _needed(
    channel: Channel, name: str, leaving: frozenset[str], told: frozenset[str] | None = None
) -> tuple[set[str], list[str]]:
    """Return which of the files have to stay, and a line for each of those that are `told` of: who requires it, where.

    A requirement that is met now has to be met without them: in its own stream, or, for a stream that is not closed, in
    the stream that they leave. The newest file that serves is kept, and then what it requires.
    """
    found: dict[str, str] = {}
    while kept := _one_needed(channel, name, leaving - found.keys()):
        found[kept[0]] = f"keep   {kept[0]}: {kept[1]}"
    return set(found), [line for file, line in sorted(found.items()) if told is None or file in told]


def _one_needed(channel: Channel, name: str, leaving: Set[str]) -> tuple[str, str] | None:
    projects = {channel.files[file].project for file in leaving}
    for where, stream in sorted(channel.streams.items()):
        own = [file for file in channel.listing(where) if where != name or file.filename not in leaving]
        there = channel.listing(name) if where == name else [*own, *channel.listing(name)]
        remaining = Shelf(file for file in there if file.filename not in leaving or (where != name and file in own))
        before = Shelf(there)
        for one in unmet(own, remaining, stream.platforms, lambda project: project in projects):
            serving = [file for file in before.serving(one.need) if file.filename in leaving]
            if serving:
                best = max(serving, key=lambda file: (file.version, file.filename))
                return best.filename, f"{one.by.filename} requires it, in {where}"
    return None


def of_version(channel: Channel, stream: str, version: Version, projects: Sequence[str] = ()) -> list[File]:
    """Return all files of a version that a stream lists; a version without a local part has all its local ones.

    `projects` are names, or patterns as of owners; without them, all count. Raises FoundError if there is no file.
    """
    listed = [channel.listed_file(stream, name) for name in sorted(channel.stream(stream).files)]
    listed = [one for one in listed if not projects or any(matches(one.project, name) for name in projects)]
    found = [one for one in listed if version in (one.version, None if version.local else Version(one.version.public))]
    if not found:
        if projects and not listed:
            raise FoundError(f"--project={', '.join(projects)}: {stream} has no project of that name")
        there = sorted({one.version for one in listed}, reverse=True)
        raise FoundError(f"{stream}: has no {version}; expected one of its versions: {named(list(map(str, there)))}")
    return found


def withdraw(channel: Channel, name: str, version: Version, reason: str, projects: Sequence[str] = ()) -> ChannelChange:
    """Return what withdrawing a version does (PEP 592); without a reason, it is offered again.

    Raises FoundError if there is no such version, and for requirements that nothing would meet.
    """
    stream = channel.stream(name)
    chosen = {file.filename for file in of_version(channel, name, version, projects)}
    kept = {file: why for file, why in stream.withdrawn.items() if file not in chosen}
    withdrawn = {**kept, **dict.fromkeys(chosen, reason)} if reason else kept
    if withdrawn == stream.withdrawn:
        return ChannelChange(channel, lines=(f"{name}: nothing to change",))
    streams = {**channel.streams, name: replace(stream, withdrawn=withdrawn)}
    after = replace(channel, serial=channel.serial + 1, streams=streams)
    known = [*unmet_requirements(channel, name, channel.listing(name))]
    refuse([one for one in unmet_requirements(after, name, after.listing(name)) if one not in known])
    lines = tuple(f"{'withdraw' if reason else 'offer   '} {file}" for file in sorted(chosen))
    return ChannelChange(after, {name: SHRINK if reason else GROW}, tuple(sorted(chosen)), lines=lines)
