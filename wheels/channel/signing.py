"""Signs the state of a channel as TUF does: who has the key of its owner notices what others have changed.

    metadata/1.root.json              the key; written once
    metadata/{version}.targets.json   size and SHA-256 of `channel.json`, of each page, and of each file of the store
    metadata/{version}.snapshot.json  size and SHA-256 of the targets
    metadata/timestamp.json           size and SHA-256 of the snapshot, and the serial; it counts, so it comes last

Versions are times, in seconds since 1970: they grow also where the metadata were lost. The version before stays, for
clients that have read its timestamp.
"""

import re
import time
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from securesystemslib.exceptions import UnverifiedSignatureError
from securesystemslib.signer import Key, Signer
from tuf.api import metadata as tuf
from tuf.api.exceptions import RepositoryError

from lib.common.command import FoundError
from lib.common.program import named
from wheels.channel.change import recover, stream_pages
from wheels.channel.locks import locked
from wheels.channel.model import CHANNEL, METADATA, STORE, Channel
from wheels.channel.place import ANYTHING, Place

ROOT: Final = f"{METADATA}1.root.json"
TIMESTAMP: Final = f"{METADATA}timestamp.json"
#: Field of the timestamp.
SERIAL: Final = "serial"
#: A root is only as good as the key that people have from its owner, so it need not expire.
_ROOT_LIFETIME: Final = timedelta(days=36500)
_VERSIONED: Final = re.compile(rf"{METADATA}(\d+)\.(?:snapshot|targets)\.json")


def signed_by(content: bytes, key: Key) -> tuf.Signed | None:
    """Return metadata that a key has signed, None if it has not."""
    try:
        metadata = tuf.Metadata.from_bytes(content)
        key.verify_signature(metadata.signatures[key.keyid], metadata.signed_bytes)
    except (RepositoryError, UnverifiedSignatureError, KeyError):
        return None
    return metadata.signed


def _before(place: Place, key: Key, serial: int) -> tuple[int, str | None]:
    """Return the version of the last timestamp, and its token. Raises FoundError if it is not of this key, or newer."""
    again = f"If that is meant, delete {METADATA} and sign again"
    for path in (ROOT, TIMESTAMP):
        there = place.read(path)
        signed = signed_by(there.content, key) if there else None
        if there and signed is None:
            raise FoundError(f"{path}: is not signed by {key.keyid}; expected that key. {again}")
    if there is None or signed is None:
        return 0, None
    if (last := signed.unrecognized_fields.get(SERIAL, 0)) > serial:
        raise FoundError(f"{CHANNEL}: has serial {serial}, and {last} was signed: an older state was put back. {again}")
    return signed.version, there.token


def _targets(place: Place, channel: Channel) -> dict[str, tuf.TargetFile]:
    """Return what is signed. Raises FoundError for what is not as the state says, so that it is not signed."""
    there = place.list(STORE)
    sizes = {one.path: one.size for one in channel.files.values()}
    wrong = [one for one in channel.stored if one not in there or there[one].size != sizes.get(one, there[one].size)]
    texts = {f"{name}/{path}": text for name in channel.streams for path, text in stream_pages(channel, name).items()}
    stored = {path: one.content for path in [CHANNEL, *texts] if (one := place.read(path))}
    if wrong := [*wrong, *(path for path, text in texts.items() if stored.get(path) != text)]:
        said = f"{place.shown}: nothing was signed, as {CHANNEL} says otherwise of {named(wrong)}"
        raise FoundError(f"{said}. rocm-wheels channel check says more")
    files = (tuf.TargetFile(there[path].size, {"sha256": digest}, path) for path, digest in channel.stored.items())
    pages = (tuf.TargetFile.from_data(path, text, ["sha256"]) for path, text in stored.items())
    return {one.path: one for one in (*files, *pages)}


def sign(place: Place, wait: float, signer: Signer, lifetime: int) -> Channel:
    """Sign the present state for so many seconds; return it. A kill leaves what was signed before.

    Raises FoundError if something is missing, or was put back.
    """
    key, now = signer.public_key, datetime.now(UTC)
    with locked(place, wait) as lock:
        channel = recover(place, lock)
        last, token = _before(place, key, channel.serial)
        version, expires = max(int(time.time()), last + 1), now + timedelta(seconds=lifetime)

        def write(path: str, signed: tuf.Signed, expected: str | None = ANYTHING) -> tuf.MetaFile:
            metadata: tuf.Metadata[Any] = tuf.Metadata(signed)
            metadata.sign(signer)
            lock.renew()
            content = metadata.to_bytes()
            place.write(path, content, expected)
            return tuf.MetaFile.from_data(signed.version, content, ["sha256"])

        if place.read(ROOT) is None:
            roles = {name: tuf.Role([key.keyid], 1) for name in tuf.TOP_LEVEL_ROLE_NAMES}
            write(ROOT, tuf.Root(1, None, now + _ROOT_LIFETIME, {key.keyid: key}, roles), None)
        start, given = f"{METADATA}{version}.", (version, None, expires)
        named = write(f"{start}targets.json", tuf.Targets(*given, _targets(place, channel)))
        named = write(f"{start}snapshot.json", tuf.Snapshot(*given, {"targets.json": named}))
        write(TIMESTAMP, tuf.Timestamp(*given, named, {SERIAL: channel.serial}), token)
        names = {path: _VERSIONED.fullmatch(path) for path in place.list(METADATA)}
        place.delete([path for path, one in names.items() if one and int(one[1]) not in (last, version)])
    return channel
