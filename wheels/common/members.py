"""The members of a distribution, a wheel or an sdist, with their digests: what two distributions are compared by."""

import hashlib
import tarfile
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from lib.common.program import ToolError
from lib.wheel.record import record_digests

#: What zipfile and tarfile raise for damage; RuntimeError is for a member that says that it is encrypted.
_UNREADABLE: Final = (zipfile.BadZipFile, tarfile.TarError, zlib.error, OSError, EOFError, ValueError, RuntimeError)


@dataclass(frozen=True)
class Member:
    """A member of an archive."""

    sha256: str
    """Of its content, in hex; empty if it is no regular file."""
    header: tuple[object, ...]
    """What else the archive has of it: mode, date, compression, the target of a link."""


def read_members(path: Path, *, trust_record: bool = False) -> dict[str, Member]:
    """Return the members of a distribution by their paths; with `trust_record`, digests of a wheel are from its RECORD.

    Raises ToolError if it cannot be read.
    """
    try:
        if path.name.endswith(".whl"):
            with zipfile.ZipFile(path) as archive:
                known = _recorded(archive) if trust_record else {}
                return {one.filename: _zip_member(archive, one, known) for one in archive.infolist()}
        with tarfile.open(path) as sdist:
            return {one.name: _tar_member(sdist, one) for one in sdist}
    except _UNREADABLE as error:
        raise ToolError(f"{path}: cannot be read: {error}. Download it again, or build it again") from None


def _recorded(archive: zipfile.ZipFile) -> dict[str, str]:
    records = [name for name in archive.namelist() if name.endswith(".dist-info/RECORD") and name.count("/") == 1]
    return record_digests(archive.read(records[0])) if records else {}


def _zip_member(archive: zipfile.ZipFile, one: zipfile.ZipInfo, known: Mapping[str, str]) -> Member:
    header = one.external_attr, one.date_time, one.compress_type, one.compress_size
    sha256 = known.get(one.filename) or ("" if one.is_dir() else _digest(archive.open(one)))
    return Member(sha256, header)


def _tar_member(sdist: tarfile.TarFile, one: tarfile.TarInfo) -> Member:
    content = sdist.extractfile(one) if one.isreg() else None
    return Member(_digest(content) if content else "", (one.mode, one.mtime, one.type, one.linkname))


def _digest(content: IO[bytes]) -> str:
    with content:
        return hashlib.file_digest(content, "sha256").hexdigest()  # type: ignore[arg-type]
