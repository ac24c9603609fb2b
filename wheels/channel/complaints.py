"""Finds what is wrong with what a stream lists: `add` runs these checks before, and `check` over all that is there."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from packaging.utils import canonicalize_name
from packaging.version import Version

from lib.index.requirements import Shelf, unmet
from lib.wheel.machines import tags_of
from wheels.channel.model import Channel, File
from wheels.verify.wheel_set.closure import circles

#: Kinds of complaints, and what to do.
REMEDIES: Final = {
    "missing-file": "Add the build again, which sends the missing files",
    "other-bytes": "Delete the file, and add the build again",
    "wrong-page": "Call `rocm-wheels channel init`, which writes all pages again",
    "unmet": "Add what is required, or retire what requires it",
    "circle": "Let extras require only packages, or other extras without a circle",
    "order": "Build a version that sorts last, or add a build of an older line with --older",
    "same-tag": "Retire one of them",
    "no-owner": "Name the owner with `rocm-wheels channel init --owner`",
    "two-owners": "Leave the name to one owner",
    "owner-missing": "Add the owner's package, or take its name from the owner",
    "unsigned": "Call `rocm-wheels channel sign` after each change",
    "other-key": "Take the key from the owner of the channel, or sign with the key that people trust",
    "forged": "Somebody else may write there: find out who, put back what was signed, and sign again",
    "rolled-back": "Somebody has put back an older state: put back the newest one, or sign again",
    "mixed": "Somebody has put files of two states together: put back the files of one, or sign again",
    "expired": "Sign again. If that was done, somebody holds back what is newer: ask the owner",
    "unfinished": "Call add or retire: either completes it",
}


@dataclass(frozen=True)
class Complaint:
    """Something that is wrong with a channel."""

    kind: str
    """One of REMEDIES."""
    stream: str
    """Empty if it is about the store."""
    said: str

    def __str__(self) -> str:
        """Say it to people."""
        where = f"{self.stream}: " if self.stream else ""
        return f"{self.kind}: {where}{self.said}"


def unmet_requirements(channel: Channel, name: str, files: Iterable[File]) -> Iterator[Complaint]:
    """Look for requirements of some files of a stream that nothing in it meets.

    In a closed stream all of them count. In another one those count that the stream has some version of, or an owner.
    """
    stream, shelf = channel.streams[name], Shelf(channel.listing(name))

    def counts(project: str) -> bool:
        return stream.closed or project in shelf.projects or bool(channel.owners_of(project))

    for one in unmet(files, shelf, stream.platforms, counts):
        yield Complaint("unmet", name, str(one))


def circular(name: str, files: Iterable[File]) -> Iterator[Complaint]:
    """Look for distributions that require themselves, and for extras that require each other."""
    for file in files:
        graph: dict[str, list[str]] = {canonicalize_name(extra): [] for extra in file.extras}
        for need in (one for one in file.needs if one.project == file.project):
            having = [extra for extra in graph if f'"{extra}"' in need.marker.replace("_", "-")]
            if not having:
                yield Complaint("circle", name, f"{file.filename} requires {need.requirement}, which it is")
            for extra in having:
                graph[extra] += [one for one in sorted(need.extras) if one in graph]
        for circle in circles({extra: sorted(set(found)) for extra, found in graph.items()}):
            steps = " -> ".join(f"{file.project}[{extra}]" for extra in [*circle, circle[0]])
            yield Complaint("circle", name, f"{file.filename}: {steps}")


def not_last(channel: Channel, name: str) -> Iterator[Complaint]:
    """Look for files of the newest build that installers do not take for the newest (PEP 440)."""
    stream = channel.streams[name]
    if stream.newest is None:
        return
    there = ({n: d for n, d in one.items() if n not in stream.withdrawn} for one in (stream.files, stream.newest.files))
    last, own = (_newest(channel, files) for files in there)
    said = {}
    for key, file in sorted(own.items()):
        if (newer := last[key].version) > file.version:
            text = f"{file.project} {file.version} is the newest build, and installers take {newer} for newer"
            said[text] = Complaint("order", name, text)
    yield from said.values()


def _newest(channel: Channel, files: Mapping[str, str]) -> dict[tuple[str, str], File]:
    """Return the newest file of each project in each index."""
    ordered = sorted((channel.files[name] for name in files), key=lambda file: file.version)
    return {(file.project, files[file.filename]): file for file in ordered}


def same_tags(channel: Channel, name: str, about: Iterable[File]) -> Iterator[Complaint]:
    """Look among some files for wheels that have a tag in common with another one of their version.

    Which one is installed is left to chance.
    """
    names = {one.filename for one in about}
    seen: dict[tuple[str, str, Version, str], File] = {}
    for filename, directory in sorted(channel.streams[name].files.items()):
        file = channel.files[filename]
        if not file.is_wheel or file.label:
            continue  # Of wheel variants, the label decides.
        for tag in sorted(map(str, tags_of(file.filename))):
            other = seen.setdefault((file.project, directory, file.version, tag), file)
            if other is not file and not names.isdisjoint([other.filename, file.filename]):
                yield Complaint("same-tag", name, f"{other.filename} and {file.filename} both have the tag {tag}")
                break


def ownership(channel: Channel, name: str, projects: Iterable[str]) -> Iterator[Complaint]:
    """Look for names that nobody owns, or two own; without any owner all names are free."""
    if not channel.owners:
        return
    for project in sorted(set(projects)):
        owners = channel.owners_of(project)
        if not owners and not channel.streams[name].closed:
            yield Complaint("no-owner", name, f"{project}: nobody owns this name")
        elif len(owners) > 1:
            yield Complaint("two-owners", name, f"{project}: {' and '.join(owners)} own this name")


def owners_missing(channel: Channel, name: str) -> Iterator[Complaint]:
    """Look for names that an owner has, without a `*`, and that a stream with another package of the owner lacks."""
    there = {file.project for file in channel.listing(name)}
    for owner, names in sorted(channel.owners.items()):
        plain: set[str] = {canonicalize_name(one) for one in names if not one.endswith("*")}
        if any(owner in channel.owners_of(project) for project in there):
            for project in sorted(plain - there):
                yield Complaint("owner-missing", name, f"{project}: {owner} owns it, and no build has it")


def complaints_about(
    channel: Channel, name: str, added: Sequence[File] | None = None, *, older: bool = False
) -> list[Complaint]:
    """Return all that is wrong with what a stream lists; or only with what is `added` to it, of an `older` line or not.

    What an owner still misses does not keep anybody from adding.
    """
    files = channel.listing(name) if added is None else added
    return [
        *ownership(channel, name, (file.project for file in files)),
        *(owners_missing(channel, name) if added is None else ()),
        *circular(name, files),
        *unmet_requirements(channel, name, files),
        *(() if older else not_last(channel, name)),
        *same_tags(channel, name, files),
    ]
