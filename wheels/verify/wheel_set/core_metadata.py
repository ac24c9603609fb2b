"""Reads core metadata of wheels and sdists leniently: `wheels.verify.checks` says what is malformed."""

import lzma
import tarfile
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packaging.metadata import RawMetadata, parse_email
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from wheels.verify.wheel_set.selector import MAX_SIZE, is_selector_file


@dataclass(frozen=True)
class Dependencies:
    """What is required, and the extras that are offered, normalised."""

    requires: tuple[Requirement, ...] = ()
    external: tuple[str, ...] = ()
    """What the system must have (Requires-External), in this project's wheels SONAMEs of libraries."""
    extras: frozenset[str] = frozenset()


def raw_metadata(content: bytes | None) -> RawMetadata:
    """Return the fields of METADATA or PKG-INFO, without those that cannot be read."""
    try:
        return parse_email(content or b"")[0]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def dependencies(content: bytes | None) -> Dependencies:
    """Return the requirements that can be read."""
    raw = raw_metadata(content)
    requires = []
    for text in raw.get("requires_dist", ()):
        with suppress(InvalidRequirement):
            requires.append(Requirement(text))
    extras = frozenset(canonicalize_name(extra) for extra in raw.get("provides_extra", ()))
    return Dependencies(tuple(requires), tuple(raw.get("requires_external", ())), extras)


#: What reading a broken archive raises.
_ERRORS: Final = (
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    ValueError,
    OverflowError,
    RecursionError,
)
#: More than this of PKG-INFO is damage, in bytes.
_MAX_METADATA: Final = 1 << 24


@dataclass(frozen=True)
class SdistFacts:
    """The texts of an sdist, None where it has none; `damage` says why it cannot be read, else it is empty."""

    metadata: bytes | None = None
    selector: bytes | None = None
    damage: str = ""


def read_sdist(path: Path) -> SdistFacts:
    """Read an sdist (PyPA, "Source distribution format"): PKG-INFO lies in the one directory at its top."""
    metadata = selector = None
    try:
        with tarfile.open(path, "r:*") as tar:
            for info in tar:
                if not info.isreg():
                    continue
                if info.name.count("/") == 1 and info.name.endswith("/PKG-INFO"):
                    metadata = _read(tar, info, _MAX_METADATA)
                elif is_selector_file(info.name):
                    selector = _read(tar, info, MAX_SIZE)
    except _ERRORS as error:
        return SdistFacts(damage=str(error) or type(error).__name__)
    if metadata is None:
        return SdistFacts(damage="there is no PKG-INFO")
    return SdistFacts(metadata, selector)


def _read(tar: tarfile.TarFile, info: tarfile.TarInfo, limit: int) -> bytes:
    file = tar.extractfile(info)
    if file is None or info.size > limit:
        raise ValueError(f"{info.name} has {info.size} bytes; no more than {limit} are expected")
    return file.read()
