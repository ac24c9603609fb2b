"""Chooses what a promotion brings to another stream: built again, rewritten, or as it is.

    promotion = choose(channel, Request("rc", "stable", Version("10.1.0rc2")))
    change(place, wait, promotion.prepare(place, given, scratch, now))

A promotion takes all files of a version, the wheels that pin it, and what these require and the stream lacks.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from packaging.utils import NormalizedName
from packaging.version import Version

from lib.common.command import FoundError
from lib.common.digest import file_sha256
from lib.common.program import named
from lib.index.requirements import Shelf
from lib.wheel.wheel_name import WheelName, sortable_label, with_local
from wheels.channel.local_files import LocalFile, read_local
from wheels.channel.model import Channel, File, Promotion
from wheels.channel.place import Place
from wheels.channel.plan import ChannelChange, add, of_version
from wheels.channel.promotion.proof import BUILT, SAME, FileProof, Proof, compare
from wheels.channel.promotion.rewriting import Rewriting, pinned_version

#: Returns what a channel becomes.
Plan = Callable[[Channel], ChannelChange]


@dataclass(frozen=True)
class Request:
    """Request for a promotion."""

    stream: str
    """Of the candidate."""
    to: str
    version: Version
    new: Version | None = None
    """Of the release; the default is the version without what makes it a pre-release."""
    members: tuple[str, ...] = ()
    """Members of rewritten wheels that have the version as text."""
    older: bool = False
    projects: tuple[str, ...] = ()
    """Names or patterns of the projects whose version it is; without them, of all."""

    @property
    def release(self) -> Version:
        """The version of the release."""
        return self.new or release_version(self.version)


def release_version(version: Version) -> Version:
    """Return a version without what makes it a pre-release: 10.1.0 of 10.1.0rc2."""
    if not version.is_prerelease:
        return version
    post = f".post{version.post}" if version.post is not None and version.pre is None else ""
    return Version(version.base_version + post)


@dataclass(frozen=True)
class Chosen:
    """The files of a candidate, and their indexes."""

    request: Request
    directories: Mapping[str, str]
    own: tuple[File, ...]
    """Of the version itself."""
    pinning: tuple[File, ...]
    """Wheels that pin it, or pin a wheel that does."""
    others: tuple[File, ...]
    """What these require."""
    versions: Mapping[tuple[str, Version], Version]
    """For each project and version, the version of the release; empty if the release has the candidate's."""

    def prepare(self, place: Place, given: Sequence[LocalFile], scratch: Path, now: int) -> Plan:
        """Write what has to be written into a directory, and the proof; return what adds it all to a channel.

        Raises FoundError if the given distributions are not the files of the release, as the result does if the
        candidate was retired meanwhile.
        """
        kept = self.others if self.versions else (*self.own, *self.pinning, *self.others)
        proofs = {one.filename: FileProof(SAME, one.filename, one.sha256, one.sha256) for one in kept}
        files: list[LocalFile] = []
        for file, local in self._built(given):
            files.append(replace(local, directory=self.directories[file.filename]))
            if file.is_variant_list:
                proofs[local.file.filename] = FileProof(BUILT, file.filename, file.sha256, local.file.sha256)
            else:
                proofs[local.file.filename] = compare(self._fetched(place, file, scratch), local)
        texts = {str(old): str(new) for (_, old), new in self.versions.items()}
        texts[str(self.request.version)] = str(self.request.release)
        rewriting = Rewriting(self.versions, texts, self.request.members)
        used: set[str] = set()
        for file in self.pinning if self.versions else ():
            candidate = self._fetched(place, file, scratch)
            target, named = rewriting.write(candidate.source, scratch)
            [local] = read_local([target])
            used |= named
            files.append(replace(local, directory=candidate.directory))
            proofs[local.file.filename] = compare(candidate, local, named)
        if unused := sorted(set(self.request.members) - used):
            raise FoundError(
                f"--rewrite={unused[0]}: is in no wheel that is rewritten; expected the path of a member. Correct it"
            )
        if not self.versions:  # The selector's data is only in the files that have it.
            for one in (self._fetched(place, file, scratch) for file in filter(_selects, self.own)):
                files += (replace(local, directory=one.directory) for local in read_local([one.source]))
        return self._plan(files, proofs, scratch, now)

    def _plan(self, files: Sequence[LocalFile], proofs: Mapping[str, FileProof], scratch: Path, now: int) -> Plan:
        request = self.request
        names = str(request.version), request.to, str(request.release)
        proof = Proof(request.stream, *names, files=proofs).write(scratch)
        digests = {name: one.before for name, one in proofs.items()}
        promotion = Promotion(request.stream, str(request.version), digests, proof.file.path)
        there = {one.file.filename for one in files}
        others = [
            (one, self.directories[one.filename])
            for one in (*self.own, *self.pinning, *self.others)
            if one.filename in proofs and one.filename not in there
        ]

        def plan(channel: Channel) -> ChannelChange:
            for file, _ in others:
                if channel.files.get(file.filename) != file:
                    raise FoundError(f"{file.filename}: was retired meanwhile. Promote a newer candidate")
            options: dict[str, Any] = {"older": request.older, "others": others, "promoted": promotion}
            made = add(channel, request.to, files, now, **options)
            changed = [name for name, before in digests.items() if made.after.files[name].sha256 != before]
            lines = [f"same   {len(digests) - len(changed)} files, other bytes {len(changed)} files"]
            lines += [f"proof  {proof.file.path}"]
            return replace(made, uploads=(proof, *made.uploads), lines=(*made.lines, *lines))

        return plan

    def _fetched(self, place: Place, file: File, scratch: Path) -> LocalFile:
        folder = scratch / file.sha256
        folder.mkdir(exist_ok=True)
        path = place.fetch(file.path, folder)
        if file_sha256(path) != file.sha256:
            raise FoundError(f"{file.path}: has other bytes than channel.json says. Call rocm-wheels channel check")
        return LocalFile(path, file, self.directories[file.filename])  # It was read when it was added.

    def _built(self, given: Sequence[LocalFile]) -> list[tuple[File, LocalFile]]:
        """Return the files of the candidate, and what was built again for each."""
        release = self.request.release
        found = {one.file.filename: one for one in given}
        wanted = {self._renamed(one): one for one in self.own} if self.versions else {}
        if missing := sorted(wanted.keys() - found.keys()):
            raise FoundError(
                f"{missing[0]}: is missing, the release of {wanted[missing[0]].filename}. Build all packages with "
                f"version {release}, and name them or their directory; or promote the files as they are: "
                f"--version={self.request.version}"
            )
        if more := sorted(found.keys() - wanted.keys()):
            expected = named(sorted(wanted)) or "none: the files of the candidate are promoted as they are"
            raise FoundError(
                f"{found[more[0]].source}: is no file of this release, whose version is {release}; expected {expected}"
            )
        return [(wanted[name], found[name]) for name in sorted(wanted)]

    def _renamed(self, file: File) -> str:
        new = self.versions[file.project, file.version]
        name = re.sub(rf"-{re.escape(str(file.version))}(?=-|\.tar\.gz$)", f"-{new}", file.filename, count=1)
        if name == file.filename:
            raise FoundError(f"{name}: expected a name with the version {file.version}. Build the candidate again")
        return name


def _selects(file: File) -> bool:
    return not file.is_variant_list and (not file.is_wheel or bool(file.extras))


def choose(channel: Channel, request: Request) -> Chosen:
    """Choose the files of a candidate. Raises FoundError if there is none, or it cannot be promoted."""
    if request.to == request.stream:
        raise FoundError(f"--to={request.to}: is the stream of the candidate; expected another stream")
    own = of_version(channel, request.stream, request.version, request.projects)
    stream = channel.stream(request.stream)
    if stopped := next((one for one in own if one.yanked), None):
        raise FoundError(f"{stopped.filename}: was withdrawn: {stopped.yanked}. Promote another version")
    for option, name in (("from", request.stream), ("to", request.to)):
        if channel.stream(name).sources:
            raise FoundError(f"--{option}={name}: is an aggregate; expected a stream with files of its own")
    versions: dict[tuple[str, Version], Version] = {}
    versions |= {(one.project, one.version): _released(one.version, request) for one in own}
    pinning = list(_pinning(channel, request, own, versions))
    bringing = _required(channel, request, [*own, *pinning])
    if request.release == request.version:
        versions = {}
    elif sdist := next((one for one in pinning if not one.is_wheel), None):
        raise FoundError(f"{sdist.filename}: is an sdist that pins the candidate; only wheels are rewritten. Retire it")
    return Chosen(request, stream.files, tuple(own), tuple(pinning), tuple(bringing), versions)


def _released(version: Version, request: Request) -> Version:
    """Return the release's version of a file of the candidate, with the local version that it has."""
    local = f"+{version.local}" if version.local and not request.version.local else ""
    return Version(f"{request.release}{local}") if request.release != request.version else version


def _pinning(
    channel: Channel, request: Request, own: Sequence[File], versions: dict[tuple[str, Version], Version]
) -> Iterator[File]:
    """Yield the files that pin the candidate, and then those that pin them; their versions are added."""
    word = min((one.project for one in own), key=len)
    left = [one for one in channel.listing(request.stream) if one not in own and not one.yanked]
    while found := [one for one in left if any(pinned_version(need.requirement, versions) for need in one.needs)]:
        for file in found:
            versions[file.project, file.version] = _moved(file, word, request)
            yield file
        left = [one for one in left if one not in found]


def _moved(file: File, word: str, request: Request) -> Version:
    """Return the release's version of a wheel that pins the candidate: its name must not have other bytes."""
    old, new = str(request.version), str(request.release)
    text = re.sub(rf"(?<![\d.]){re.escape(old)}(?!\d|\.\d)", new, str(file.version))
    if old == new or text != str(file.version):
        return Version(text)
    label = sortable_label(re.sub(r"[^a-z0-9]", "", word), request.release)
    return with_local(WheelName("", file.version, "", f"-{file.version}"), label).version


def _required(channel: Channel, request: Request, files: Sequence[File]) -> list[File]:
    """Return what files require, as far as the candidate's stream has it and the release's has not."""
    here, there = Shelf(channel.listing(request.stream)), Shelf(channel.listing(request.to))
    chosen: dict[NormalizedName, list[File]] = {one.project: [] for one in files}
    waiting = list(files)
    while waiting:
        for need in waiting.pop().needs:
            if need.project in chosen or there.serving(need) or not (serving := here.serving(need)):
                continue
            newest = max(one.version for one in serving)
            chosen[need.project] = [channel.files[one.filename] for one in serving if one.version == newest]
            waiting += chosen[need.project]
    return [file for found in chosen.values() for file in found]
