"""Says whether a channel is what the owner of a key has signed, and the newest of it: with the client of TUF.

The timestamp that was seen last is kept, so that an older state is noticed even if everything of it is genuine.
"""

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from securesystemslib.signer import Key
from tuf.api.exceptions import DownloadError, DownloadHTTPError, ExpiredMetadataError, RepositoryError
from tuf.api.metadata import Metadata, Root, Targets, Timestamp
from tuf.ngclient import FetcherInterface, Updater, UpdaterConfig

from lib.common.digest import file_sha256
from lib.common.documents import time_text
from lib.common.program import ToolError, named
from wheels.channel.complaints import Complaint
from wheels.channel.model import CHANNEL, METADATA, from_json
from wheels.channel.place import Place
from wheels.channel.signing import ROOT, SERIAL, TIMESTAMP, signed_by

#: Bytes of the targets, at most: a million files.
_MAX_TARGETS: Final = 1 << 28


class _PlaceFetcher(FetcherInterface):
    """Reads metadata from a place, and keeps what it has read last."""

    def __init__(self, place: Place) -> None:
        self._place, self.path, self.content = place, "", b""

    def _fetch(self, url: str) -> Iterator[bytes]:
        there = self._place.read(url)
        if there or url == ROOT or not url.endswith(".root.json"):  # Mostly there is no newer root.
            self.path, self.content = url, there.content if there else b""
        if there is None:
            raise DownloadHTTPError(url, 404)
        return iter([there.content])


@dataclass(frozen=True)
class Trust:
    """A key, and what was seen of the channels that it signs."""

    key: Key
    seen: Path
    """Directory; need not be there yet."""

    def complaints(self, place: Place) -> Iterator[Complaint]:
        """Yield what of a channel is not as the key has signed it."""
        with tempfile.TemporaryDirectory(prefix="rocm-wheels-") as scratch:
            if found := self._refused(place, Path(scratch)):
                yield found
                return
            serial = Metadata[Timestamp].from_file(f"{scratch}/timestamp.json").signed.unrecognized_fields[SERIAL]
            yield from _differences(place, Metadata[Targets].from_file(f"{scratch}/targets.json").signed, serial)

    def _refused(self, place: Place, folder: Path) -> Complaint | None:
        """Read the metadata of a place into a directory; return what is wrong with them."""
        fetcher = _PlaceFetcher(place)
        name = hashlib.sha256(f"{place.shown} {self.key.keyid}".encode()).hexdigest()
        seen, now = self.seen / f"{name}.json", folder / "timestamp.json"
        before = seen.read_bytes() if seen.exists() else b""
        now.write_bytes(before)
        try:
            root = fetcher.download_bytes(ROOT, _MAX_TARGETS)
            signed = signed_by(root, self.key)
            # Whoever has this key may not say that another one counts, too.
            if not isinstance(signed, Root) or any(one.keyids != [self.key.keyid] for one in signed.roles.values()):
                return self._why(fetcher, before)
            config = UpdaterConfig(targets_max_length=_MAX_TARGETS)
            Updater(str(folder), METADATA, fetcher=fetcher, config=config, bootstrap=root).refresh()
        except (RepositoryError, DownloadError) as error:
            if isinstance(error.__cause__, ToolError):  # The place cannot be read.
                raise error.__cause__ from None
            return self._why(fetcher, before, error)
        finally:
            if (found := now.read_bytes()) != before:
                self.seen.mkdir(parents=True, exist_ok=True)
                new = seen.with_suffix(".new")
                new.write_bytes(found)
                new.replace(seen)
        return None

    def _why(self, fetcher: _PlaceFetcher, before: bytes, error: Exception | None = None) -> Complaint:
        """Return what the file is that was read last."""
        path, signed = fetcher.path, signed_by(fetcher.content, self.key)
        expected = f"expected {self.key.keyid}"

        def complaint(kind: str, said: str) -> Complaint:
            return Complaint(kind, "", f"{path}: {said}")

        if isinstance(error, DownloadHTTPError):
            if path in (ROOT, TIMESTAMP):
                return complaint("unsigned", "is missing, so nothing is signed")
            return complaint("mixed", f"is missing, and {TIMESTAMP} is of its state")
        if signed is None:
            with suppress(RepositoryError):
                others = sorted(Metadata.from_bytes(fetcher.content).signatures)
                if self.key.keyid not in others:
                    return complaint("other-key", f"is signed by {named(others)}; {expected}")
            return complaint("forged", f"has other bytes than were signed; {expected}")
        if isinstance(error, ExpiredMetadataError):
            return complaint("expired", f"expired at {time_text(signed.expires.timestamp())}")
        when, seen = f"was signed at {time_text(signed.version)}", signed_by(before, self.key)
        if path == TIMESTAMP and seen:
            return complaint("rolled-back", f"{when}; a state of {time_text(seen.version)} was seen before")
        return complaint("mixed", f"{when}, and is not of the state that was expected there")


def _differences(place: Place, targets: Targets, serial: int) -> Iterator[Complaint]:
    """Compare the files with what was signed, unless the channel was changed since."""
    there = place.read(CHANNEL)
    found = from_json(there.content, CHANNEL).serial if there else serial
    if found > serial:
        yield Complaint("unsigned", "", f"{CHANNEL}: was changed since it was signed: serial {found}, signed {serial}")
    elif found < serial:
        yield Complaint("rolled-back", "", f"{CHANNEL}: has serial {found}; signed is {serial}")
    for path, target in sorted(targets.targets.items()) if found == serial else ():
        digest = target.hashes["sha256"]
        with tempfile.TemporaryDirectory(prefix="rocm-wheels-") as scratch:
            try:
                sha256 = file_sha256(place.fetch(path, Path(scratch)))
            except FileNotFoundError:
                yield Complaint("forged", "", f"{path}: is missing, and was signed")
                continue
        if sha256 != digest:
            yield Complaint("forged", "", f"{path}: SHA-256 {sha256}; signed is {digest}")
