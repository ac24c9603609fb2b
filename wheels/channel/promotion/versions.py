"""The files of a version, and its withdrawal (PEP 592)."""

from collections.abc import Sequence
from dataclasses import replace

from packaging.version import Version

from lib.common.command import FoundError
from lib.common.program import named
from wheels.channel.complaints import unmet_requirements
from wheels.channel.model import Channel, File, matches
from wheels.channel.plan import GROW, SHRINK, ChannelChange, refuse


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
