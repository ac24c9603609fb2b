"""What a channel has: builds in streams, over one store of files, as `channel.json` says it.

    channel.json                          what there is; this module reads and writes it
    files/{sha256}/{name}                 the store: one copy of each file, for all streams
    {stream}/simple/{project}/index.json  an index (PEP 503, 691, 700), with a landing page and `find-links.html`
    {stream}/pylock.{gpu}.toml            the newest set of a stream, for a GPU
    journal.json                          the next `channel.json`, while a change is under way
    lock.json                             who changes the channel

A *build* is what one `add` brought. A *place* is where a channel lies: a directory or a bucket. Everything but the
places is neutral: a command reads the channel, computes what it becomes (`wheels.channel.plan`, a pure function), and
`wheels.channel.change` carries that out, in an order in which whatever is listed can be installed at every moment:

1. Files go into the store. Nothing lists them yet.
2. Under the lock, `journal.json` gets the next state. From here on the change is completed, by whoever comes next.
3. Pages follow. A directory gets all pages of a stream at once: a link is put in the place of another. In a bucket,
   the page of what is required comes before the page of what requires it, and the other way round when files leave.
4. `channel.json` follows, and the journal goes. Files are deleted when no page has listed them for the time of grace.

Killed before 2, a command has changed nothing that is listed; killed later, the next one completes it from the journal.
Pages are functions of the state, so writing one twice does no harm.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final, Self

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name
from packaging.version import Version

from lib.common.program import ToolError
from lib.index.model import Distribution, VariantList
from lib.variants.variant_format import INDEX_SUFFIX, variants_in

CHANNEL: Final = "channel.json"
JOURNAL: Final = "journal.json"
LOCK: Final = "lock.json"
STORE: Final = "files/"
METADATA_SUFFIX: Final = ".metadata"
FORMAT: Final = 1
DAY: Final = 86400


@dataclass(frozen=True)
class File:
    """A distribution, or a list of wheel variants: its bytes, and what an index says of it."""

    name: str
    sha256: str
    size: int
    """In bytes."""
    project: str
    """Normalised (PEP 503)."""
    version: str
    metadata_sha256: str = ""
    """Of the core metadata beside it; empty for an sdist."""
    summary: str = ""
    requires_python: str = ""
    license: str = ""
    requires: tuple[str, ...] = ()
    """All that it can come to require, also of an sdist whose requirements are only known when it is built."""
    extras: tuple[str, ...] = ()
    dynamic: tuple[str, ...] = ()
    urls: tuple[tuple[str, str], ...] = ()
    content: str = ""
    """Of a list of wheel variants."""
    url: str = ""
    """Of a file that another channel has; empty if it lies in the store."""

    @property
    def path(self) -> str:
        """Path of the file in the channel."""
        return f"{STORE}{self.sha256}/{self.name}"

    @property
    def stored(self) -> dict[str, str]:
        """The paths that the store has for it, with their SHA-256."""
        if self.url:
            return {}
        own = {self.path: self.sha256}
        return own | ({self.path + METADATA_SUFFIX: self.metadata_sha256} if self.metadata_sha256 else {})

    @property
    def is_wheel(self) -> bool:
        """Whether it is a wheel."""
        return self.name.endswith(".whl")

    @property
    def is_variant_list(self) -> bool:
        """Whether it lists the wheel variants of a version, and is not a distribution."""
        return self.name.endswith(INDEX_SUFFIX)

    @cached_property
    def parsed_version(self) -> Version:
        """Its version."""
        return Version(self.version)

    def listed(self, directory: str, uploaded: int) -> Distribution | VariantList:
        """Return what pages show, on an index whose store is beside it."""
        stored = self.url or f"../{self.path}"
        project = NormalizedName(self.project)
        if self.is_variant_list:
            labels = tuple(sorted(variants_in(self.content.encode())))
            return VariantList(directory, project, self.name, self.content.encode(), labels, stored, uploaded)
        return Distribution(
            filename=self.name,
            size=self.size,
            sha256=self.sha256,
            metadata_sha256=self.metadata_sha256,
            directory=directory,
            project=project,
            version=self.parsed_version,
            summary=self.summary,
            requires_python=self.requires_python,
            license=self.license,
            requires=() if "requires-dist" in self.dynamic else tuple(map(Requirement, self.requires)),
            extras=self.extras,
            dynamic=self.dynamic,
            urls=self.urls,
            stored=stored,
            uploaded=uploaded,
        )


@dataclass(frozen=True)
class Build:
    """What one `add` brought to a stream."""

    added: int
    """In seconds since 1970."""
    files: Mapping[str, str]
    """File names, with the index that lists them: "" for the main one, else `static` or a GPU target."""
    older: bool = False
    """Whether it belongs to an older line, so that it need not sort last."""
    selector: str = ""
    """`_distributions.json` of the newest build."""


@dataclass(frozen=True)
class StreamState:
    """An index of its own."""

    builds: tuple[Build, ...] = ()
    """The oldest first."""
    closed: bool = False
    """Whether everything that is required has to be in it."""
    sources: tuple[str, ...] = ()
    """Of an aggregate: streams whose files it lists, as paths or URLs of directories (`../torch/stable/`)."""
    leaving: Mapping[str, int] = field(default_factory=dict)
    """Files that are retired as soon as clients have forgotten what requires them: since when they may go."""

    @cached_property
    def files(self) -> dict[str, str]:
        """All files that its pages list, with the index that lists each."""
        return {name: directory for build in self.builds for name, directory in build.files.items()}

    def build_of(self, name: str) -> Build:
        """Return the newest build that has a file."""
        return next(build for build in reversed(self.builds) if name in build.files)

    def without(self, names: frozenset[str]) -> Self:
        """Return the stream without some files, and without builds that have no others."""
        kept = [replace(one, files={n: d for n, d in one.files.items() if n not in names}) for one in self.builds]
        leaving = {name: due for name, due in self.leaving.items() if name not in names}
        return replace(self, builds=tuple(one for one in kept if one.files), leaving=leaving)


@dataclass(frozen=True)
class Channel:
    """The state of a channel."""

    serial: int
    """Number of the change that made it."""
    title: str
    grace: int
    """Seconds for which files stay after no page lists them any more."""
    settle: int
    """Seconds after which a client that has read a page is done with what the page made it look for."""
    url: str
    """Where it is served, or empty if nobody has said."""
    streams: Mapping[str, StreamState]
    owners: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of projects that each owner has; `*` stands for anything at the end. Without owners, all names are free."""
    files: Mapping[str, File] = field(default_factory=dict)
    gone: Mapping[str, int] = field(default_factory=dict)
    """Files that no stream lists, and since when."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of files that are deleted: their names never get other bytes."""

    def sha256_of(self, name: str) -> str | None:
        """Return the SHA-256 that a file name has for ever, None if it is new."""
        return self.files[name].sha256 if name in self.files else self.digests.get(name)

    def listing(self, stream: str) -> list[File]:
        """Return the distributions that a stream lists, by name."""
        found = (self.files[name] for name in sorted(self.streams[stream].files))
        return [one for one in found if not one.is_variant_list]

    def owners_of(self, project: str) -> list[str]:
        """Return who owns a name."""
        patterns = ((owner, name) for owner, names in self.owners.items() for name in names)
        return sorted({owner for owner, name in patterns if matches(project, name)})

    def stream(self, name: str) -> StreamState:
        """Return a stream. Raises ToolError if there is none of that name."""
        if name not in self.streams:
            raise ToolError(f"--stream={name}: no such stream; expected {', '.join(sorted(self.streams))}")
        return self.streams[name]


def matches(project: str, pattern: str) -> bool:
    """Whether a pattern of `owners` has a name."""
    if pattern.endswith("*"):
        return project.startswith(pattern[:-1])
    return project == canonicalize_name(pattern)


def time_text(seconds: int) -> str:
    """Write a time as in ISO 8601, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _seconds(text: str) -> int:
    return int(datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp())


def _file_document(file: File) -> dict[str, Any]:
    fields = {name: value for name, value in asdict(file).items() if value and name != "name"}
    return {**fields, "path": file.url or file.path}


def _stream_document(name: str, stream: StreamState) -> dict[str, Any]:
    builds = [
        {"added": time_text(one.added), "files": dict(one.files)}
        | ({"older": True} if one.older else {})
        | ({"selector": json.loads(one.selector)} if one.selector else {})
        for one in stream.builds
    ]
    selectors = [one.selector for one in stream.builds if one.selector]
    return {
        "simple": f"{name}/simple/",
        "closed": stream.closed,
        "sources": list(stream.sources),
        "gpus": json.loads(selectors[-1])["targets"] if selectors else [],
        "builds": builds,
        "leaving": {file: time_text(due) for file, due in sorted(stream.leaving.items())},
    }


def to_json(channel: Channel) -> bytes:
    """Write `channel.json`."""
    document = {
        "format": FORMAT,
        "serial": channel.serial,
        "title": channel.title,
        "url": channel.url,
        "grace": channel.grace,
        "settle": channel.settle,
        "owners": {owner: list(names) for owner, names in sorted(channel.owners.items())},
        "streams": {name: _stream_document(name, stream) for name, stream in sorted(channel.streams.items())},
        "files": {name: _file_document(file) for name, file in sorted(channel.files.items())},
        "gone": {name: time_text(since) for name, since in sorted(channel.gone.items())},
        "digests": dict(sorted(channel.digests.items())),
    }
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def _files(document: Mapping[str, Any]) -> Iterator[tuple[str, File]]:
    for name, fields in document.items():
        given = {key: value for key, value in fields.items() if key != "path"}
        tuples = {key: tuple(given[key]) for key in ("requires", "extras", "dynamic") if key in given}
        urls = {"urls": tuple((label, url) for label, url in given["urls"])} if "urls" in given else {}
        yield name, File(name=name, **{**given, **tuples, **urls})


def _stream(document: Mapping[str, Any]) -> StreamState:
    builds = (
        Build(
            _seconds(one["added"]),
            one["files"],
            one.get("older", False),
            json.dumps(one["selector"]) if "selector" in one else "",
        )
        for one in document["builds"]
    )
    leaving = {name: _seconds(due) for name, due in document["leaving"].items()}
    return StreamState(tuple(builds), document["closed"], tuple(document["sources"]), leaving)


def from_json(content: bytes, where: str) -> Channel:
    """Read `channel.json`. Raises ToolError, which names `where` it is, if it is something else or newer."""
    try:
        document = json.loads(content)
        if document["format"] != FORMAT:
            raise ToolError(f"{where}: format {document['format']}, expected {FORMAT}. Use a newer rocm-wheels")
        return Channel(
            serial=document["serial"],
            title=document["title"],
            grace=document["grace"],
            settle=document["settle"],
            url=document["url"],
            streams={name: _stream(one) for name, one in document["streams"].items()},
            owners={owner: tuple(names) for owner, names in document["owners"].items()},
            files=dict(_files(document["files"])),
            gone={name: _seconds(since) for name, since in document["gone"].items()},
            digests=document["digests"],
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ToolError(
            f"{where}: is not a channel's state: {error!r}. Put back the {CHANNEL} that a command of rocm-wheels wrote"
        ) from None
