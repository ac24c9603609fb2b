"""Compares a channel with what it says: the store with its digests, pages with the state, requirements with files."""

from collections.abc import Iterator

from wheels.channel.change import read_channel, stream_pages
from wheels.channel.complaints import Complaint, complaints_about
from wheels.channel.model import JOURNAL, LOCK, METADATA_SUFFIX, STORE, Channel
from wheels.channel.place import Place
from wheels.channel.trust import Trust

#: How often to look again at a channel that changes.
_TRIES = 3


def check(place: Place, trust: Trust | None = None) -> tuple[Channel, list[Complaint]]:
    """Return the state and all that is wrong; looks again if the channel was changed meanwhile.

    With `trust`, files are compared with what was signed, and nothing that the place says of them counts.
    """
    for _ in range(_TRIES):
        channel, token = read_channel(place)
        found = [*(trust.complaints(place) if trust else _store(place, channel)), *_pages(place, channel)]
        if place.read(JOURNAL) is not None and place.read(LOCK) is None:
            found.append(Complaint("unfinished", "", "a change was interrupted"))
        found += (one for name in sorted(channel.streams) for one in complaints_about(channel, name))
        if read_channel(place)[1] == token:
            break
    return channel, found


def _store(place: Place, channel: Channel) -> Iterator[Complaint]:
    there = place.list(STORE)
    for path, digest in channel.stored.items():
        if path not in there:
            yield Complaint("missing-file", "", f"{path}: is missing, but {_where(channel, path)}")
        elif (found := place.sha256(path)) != digest:
            yield Complaint("other-bytes", "", f"{path}: has the SHA-256 {found}, and {_where(channel, path)}")


def _where(channel: Channel, path: str) -> str:
    name = path.rpartition("/")[2].removesuffix(METADATA_SUFFIX)
    streams = [stream for stream, one in sorted(channel.streams.items()) if name in one.files]
    listed = f"listed in {', '.join(streams)}" if streams else "retired, within the time of grace"
    return listed if name in channel.files else "proves a promotion"


def _pages(place: Place, channel: Channel) -> Iterator[Complaint]:
    for name in sorted(channel.streams):
        pages = stream_pages(channel, name)
        for path, content in sorted(pages.items()):
            there = place.read(f"{name}/{path}")
            if there is None:
                yield Complaint("wrong-page", name, f"{path}: is missing")
            elif there.content != content:
                yield Complaint("wrong-page", name, f"{path}: is not what {name} has")
        for path in sorted(place.pages(name).keys() - pages.keys()):
            yield Complaint("wrong-page", name, f"{path}: belongs to no project of {name}")
