"""Lays a layer out as eStargz: engines that know it fetch only the files that a container opens.

The format is stargz-snapshotter's (docs/estargz.md there), and still a `.tar.gz` for everybody else: each file has a
gzip member of its own, and a table of contents (TOC) at the end has the offset and the digest of each.
"""

import hashlib
import json
import struct
import tarfile
import time
from collections.abc import Iterable
from typing import Any, Final

from lib.common.archive_time import archive_time
from lib.wheel.deflated_run import Joined, Run, join, small_run
from tools.actions.layer.installed_wheel import InstalledFile
from tools.actions.layer.layer_file import ArchiveMember, Layer, archive_members, member_bytes
from tools.actions.layer.model import LANDMARK, TOC_NAME
from tools.actions.link.tar_stream import end_run, header_run, padding_run

#: Annotations: the digest of the TOC, which the snapshotter asks for, and the archive's size, which podman does.
TOC_DIGEST: Final = "containerd.io/snapshot/stargz/toc.digest"
INFLATED_SIZE: Final = "io.containers.estargz.uncompressed-size"
#: What the landmark has to contain.
_LANDMARK_CONTENT: Final = b"\x0f"


def _landmark() -> InstalledFile:
    return InstalledFile(LANDMARK, 0o644, small_run(_LANDMARK_CONTENT), hashlib.sha256(_LANDMARK_CONTENT).hexdigest())


def _entry(member: ArchiveMember) -> dict[str, Any]:
    """Return what the TOC says of every member of the archive."""
    date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(archive_time()))
    common: dict[str, Any] = {"modtime": date, "uid": 0, "gid": 0}
    if not member.file:
        return {"name": f"{member.path}/", "type": "dir", "mode": 0o755, **common}
    common |= {"name": member.path, "mode": member.file.mode}
    if member.file.type == tarfile.SYMTYPE:
        return {"type": "symlink", "linkName": member.file.link, **common}
    return {"type": "reg", "size": member.file.run.size, **common}


def footer(offset: int) -> bytes:
    """Return the last 51 bytes: an empty gzip member, with the offset of the TOC in its extra field."""
    field = b"%016xSTARGZ" % offset
    extra = b"SG" + struct.pack("<H", len(field)) + field
    header = bytes.fromhex("1f8b08040000000000ff") + struct.pack("<H", len(extra)) + extra
    # A final stored block without data, a CRC-32 and a size of 0.
    return header + bytes.fromhex("010000ffff") + bytes(8)


class _Members:
    """The gzip members so far."""

    def __init__(self) -> None:
        self.members: list[Joined] = []
        self.size = 0

    def add(self, *runs: Run) -> int:
        """Append a member, unless it would be empty; return the offset at which it begins, in bytes."""
        offset = self.size
        if any(run.size for run in runs):
            member = join(runs)
            self.members.append(member)
            self.size += member_bytes(member)
        return offset


def estargz_layer(files: Iterable[InstalledFile]) -> Layer:
    """Return a layer in which each file that has bytes is a gzip member."""
    members, entries = _Members(), []
    between: list[Run] = []
    for member in archive_members([_landmark(), *files]):
        entry = _entry(member)
        between.append(member.header)
        if member.file and member.file.run.size:
            members.add(*between)
            digest = f"sha256:{member.file.sha256}"
            entry |= {"offset": members.add(member.file.run), "digest": digest, "chunkDigest": digest}
            between = [padding_run(member.file.run.size)]
        entries.append(entry)
    members.add(*between)
    toc = json.dumps({"version": 1, "entries": entries}, separators=(",", ":"), ensure_ascii=False).encode()
    header = header_run(TOC_NAME, 0o644, tarfile.REGTYPE, len(toc), is_gnu=True)
    offset = members.add(header, small_run(toc), padding_run(len(toc)), end_run())
    annotations = {
        TOC_DIGEST: f"sha256:{hashlib.sha256(toc).hexdigest()}",
        INFLATED_SIZE: str(sum(member.size for member in members.members)),
    }
    return Layer(tuple(members.members), footer(offset), annotations)
