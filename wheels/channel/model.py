"""A channel as data: builds in streams, over one store of files. Reads and writes `channel.json`.

    channel.json                          what there is; this module reads and writes it
    files/{sha256}/{name}                 the store: one copy of each file, for all streams
    {stream}/simple/{project}/index.json  an index (PEP 503, 691, 700), with a landing page and `find-links.html`
    {stream}/pylock.{gpu}.toml            the newest set of a stream, for a GPU
    metadata/                             what was signed (`wheels.channel.signing`)
    journal.json                          the next `channel.json`, while a change is under way
    lock.json                             who changes the channel

A *build* is what one `add` brought. A *place* is where a channel lies: a directory or a bucket. Everything but the
places is neutral: a command reads the channel, computes what it becomes (`wheels.channel.plan`, a pure function), and
`wheels.channel.change` carries that out. docs/release/channel.md has the order, and what it promises.

Pages are functions of the state, so writing one twice does no harm.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Final, Self

from packaging.utils import canonicalize_name

from lib.common.documents import Time, from_document, to_document
from lib.common.program import ToolError
from lib.index.model import Distribution, VariantList
from lib.index.simple_api import PROVENANCE_SUFFIX
from lib.wheel.machines import platforms
from lib.wheel.variant_format import INDEX_SUFFIX, variants_in

CHANNEL: Final = "channel.json"
JOURNAL: Final = "journal.json"
LOCK: Final = "lock.json"
STORE: Final = "files/"
METADATA: Final = "metadata/"
METADATA_SUFFIX: Final = ".metadata"
FORMAT: Final = 1
DAY: Final = 86400


@dataclass(frozen=True)
class File(Distribution):
    """A distribution, or a list of wheel variants: its bytes, and what an index says of it.

    `requires` has all that it can come to require, also of an sdist whose requirements are only known when it is built.
    """

    sparse: ClassVar = True
    content: str = ""
    """Of a list of wheel variants."""
    url: str = ""
    """Of a file that another channel has; empty if it lies in the store."""

    @property
    def path(self) -> str:
        """Path of the file in the channel."""
        return f"{STORE}{self.sha256}/{self.filename}"

    @property
    def stored_digests(self) -> dict[str, str]:
        """The paths that the store has for it, with their SHA-256."""
        if self.url:
            return {}
        beside = {METADATA_SUFFIX: self.metadata_sha256, PROVENANCE_SUFFIX: self.provenance_sha256}
        return {self.path: self.sha256} | {self.path + end: digest for end, digest in beside.items() if digest}

    @property
    def is_variant_list(self) -> bool:
        """Whether it lists the wheel variants of a version, and is not a distribution."""
        return self.filename.endswith(INDEX_SUFFIX)

    @property
    def on_pages(self) -> Self:
        """The file as an index beside the store has it."""
        return replace(self, stored=self.url or f"../{self.path}")

    def listed(self, directory: str, uploaded: int) -> Distribution | VariantList:
        """Return what pages show, on an index whose store is beside it."""
        if self.is_variant_list:
            content = self.content.encode()
            labels = tuple(sorted(variants_in(content)))
            return VariantList(directory, self.project, self.filename, content, labels, self.on_pages.stored, uploaded)
        requires = () if "requires-dist" in self.dynamic else self.requires
        return replace(self.on_pages, directory=directory, uploaded=uploaded, requires=requires)


@dataclass(frozen=True)
class Promotion:
    """Says from which candidate a release came."""

    stream: str
    version: str
    digests: Mapping[str, str]
    """For each file of the release, the SHA-256 of the candidate's file."""
    proof: str
    """Path of the proof in the channel."""


@dataclass(frozen=True)
class Build:
    """Build of a stream: the files that one `add` brought."""

    sparse: ClassVar = True
    added: Time
    files: Mapping[str, str]
    """File names, with the index that lists them: "" for the main one, else `static` or a GPU target."""
    older: bool = False
    """Whether it belongs to an older line, so that it need not sort last."""
    selector: Any = None
    """Data of `_distributions.json`, of the newest build that has it."""
    promoted: Promotion | None = None
    """The candidate that it came from."""


@dataclass(frozen=True)
class StreamState:
    """An index of its own."""

    builds: tuple[Build, ...] = ()
    """The oldest first."""
    closed: bool = False
    """Whether everything that is required has to be in it."""
    sources: tuple[str, ...] = ()
    """Of an aggregate: streams whose files it lists, as paths or URLs of directories (`../torch/stable/`)."""
    leaving: Mapping[str, Time] = field(default_factory=dict)
    """Files that are retired as soon as clients have forgotten what requires them: since when they may go."""
    withdrawn: Mapping[str, str] = field(default_factory=dict)
    """Why files were withdrawn (PEP 592)."""

    @cached_property
    def files(self) -> dict[str, str]:
        """All files that its pages list, with the index that lists each."""
        return {name: directory for build in self.builds for name, directory in build.files.items()}

    @property
    def newest(self) -> Build | None:
        """The newest build that is not of an older line, and was not withdrawn."""
        known = self.withdrawn.keys()
        return next((one for one in reversed(self.builds) if not (one.older or one.files.keys() <= known)), None)

    @cached_property
    def platforms(self) -> dict[str, frozenset[tuple[str, str]]]:
        """For each file, what the newest build that has it is for: pairs of systems and processors."""
        return {name: found for build in self.builds for found in [platforms(build.files)] for name in build.files}

    @property
    def shown(self) -> Build | None:
        """The newest build that people are shown: of an SDK, if there is one, and not a framework's."""
        known = self.withdrawn.keys()
        having = (one for one in reversed(self.builds) if one.selector and not one.files.keys() <= known)
        return next(having, self.newest)

    def without(self, names: frozenset[str]) -> Self:
        """Return the stream without some files, and without builds that have no others."""
        kept = [replace(one, files={n: d for n, d in one.files.items() if n not in names}) for one in self.builds]
        leaving = {name: due for name, due in self.leaving.items() if name not in names}
        withdrawn = {name: reason for name, reason in self.withdrawn.items() if name not in names}
        return replace(self, builds=tuple(one for one in kept if one.files), leaving=leaving, withdrawn=withdrawn)


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
    gone: Mapping[str, Time] = field(default_factory=dict)
    """Files that no stream lists, and since when."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of files that are deleted: their names never get other bytes."""

    def later(self, now: Time, seconds: int) -> "Channel":
        """Return the state in which files go later: those that are leaving, and those that are unlisted since `now`."""
        streams = {
            name: replace(stream, leaving={file: due + seconds for file, due in stream.leaving.items()})
            for name, stream in self.streams.items()
        }
        gone = {file: since + seconds if since == now else since for file, since in self.gone.items()}
        return replace(self, streams=streams, gone=gone)

    @property
    def listed(self) -> set[str]:
        """The files that some stream lists."""
        return {name for stream in self.streams.values() for name in stream.files}

    def listing(self, stream: str) -> list[File]:
        """Return the distributions that a stream lists, by name."""
        found = (self.listed_file(stream, name) for name in sorted(self.streams[stream].files))
        return [one for one in found if not one.is_variant_list]

    def listed_file(self, stream: str, name: str) -> File:
        """Return a file as a stream lists it."""
        reason = self.streams[stream].withdrawn.get(name)
        return replace(self.files[name], yanked=reason) if reason else self.files[name]

    @property
    def stored(self) -> dict[str, str]:
        """The paths that the store has, with their SHA-256: files, and the proofs of promotions."""
        builds = (build for one in self.streams.values() for build in one.builds)
        proofs = [build.promoted.proof for build in builds if build.promoted]
        files = {path: digest for one in self.files.values() for path, digest in one.stored_digests.items()}
        return files | {path: path.split("/")[1] for path in proofs}

    def owners_of(self, project: str) -> list[str]:
        """Return who owns a name."""
        return sorted(owner for owner, names in self.owners.items() if any(matches(project, name) for name in names))

    def stream(self, name: str) -> StreamState:
        """Return a stream. Raises ToolError if there is none of that name."""
        if name not in self.streams:
            raise ToolError(f"{name}: no such stream; expected {', '.join(sorted(self.streams))}")
        return self.streams[name]

    def document(self) -> dict[str, Any]:
        """Return `channel.json`."""
        found: dict[str, Any] = {"format": FORMAT} | to_document(Channel, self)
        for name, stream in found["streams"].items():
            selectors = [one["selector"] for one in stream["builds"] if "selector" in one]
            stream |= {"simple": f"{name}/simple/", "gpus": selectors[-1]["targets"] if selectors else []}
        for name, file in found["files"].items():
            del file["filename"]
            file["path"] = self.files[name].url or self.files[name].path
        return found

    def to_json(self) -> bytes:
        """Write `channel.json`."""
        return (json.dumps(self.document(), indent=1, ensure_ascii=False) + "\n").encode()


def matches(project: str, pattern: str) -> bool:
    """Whether a pattern of `owners` has a name."""
    return project.startswith(pattern[:-1]) if pattern.endswith("*") else project == canonicalize_name(pattern)


def from_json(content: bytes, where: str) -> Channel:
    """Read `channel.json`. Raises ToolError, which names `where` it is, if it is something else or newer."""
    try:
        document = json.loads(content)
        if document["format"] != FORMAT:
            raise ToolError(f"{where}: format {document['format']}, expected {FORMAT}. Use a newer rocm-wheels")
        unsaid = {"directory": "", "metadata_sha256": ""}
        files = {name: unsaid | one | {"filename": name} for name, one in document["files"].items()}
        channel: Channel = from_document(Channel, document | {"files": files})
        return channel
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        again = f"Put back the {CHANNEL} that a command of rocm-wheels wrote"
        raise ToolError(f"{where}: is not a channel's state: {error!r}. {again}") from None
