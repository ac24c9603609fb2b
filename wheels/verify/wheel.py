"""Puts a `Wheel` together: what its name says, its archive, and the facts about its files.

opened = open_wheel(path)               # structure only
wheel = make_wheel(opened, facts)       # once all members were read
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packaging.metadata import Metadata
from packaging.tags import Tag
from packaging.utils import NormalizedName, parse_wheel_filename
from packaging.version import Version

from lib.variants.variant_format import check_label, split_label
from lib.wheel.zip_members import Archive, ZipMember
from lib.wheel.zip_reader import read_archive
from wheels.verify.model import FileFacts, Wheel

#: `int` raises ValueError for such a number, on every Python since 2022.
_TOO_LONG: Final = re.compile(rb"[0-9]{4301}")


@dataclass(frozen=True)
class OpenedWheel:
    """A wheel of which only the structure is known."""

    path: Path
    size: int
    archive: Archive

    @property
    def to_read(self) -> tuple[ZipMember, ...]:
        """The members that are files; of several with one name the last, as installers do it. Sorted."""
        files = {member.name: member for member in self.archive.members if not member.is_directory}
        return tuple(files[name] for name in sorted(files))


def open_wheel(path: Path) -> OpenedWheel:
    """Read the structure of a wheel. Raises OSError when the file cannot be read."""
    with path.open("rb") as file:
        return OpenedWheel(path, path.stat().st_size, read_archive(file))


def make_wheel(opened: OpenedWheel, facts: Iterable[FileFacts]) -> Wheel:
    """Put a wheel together of the facts about all its members."""
    files = {one.path: one for one in sorted(facts, key=lambda one: one.path)}
    plain, label = _split_label(opened.path.name)
    name, version, tags = _parse_name(plain)
    dist_infos = sorted({path.partition("/")[0] for path in files if path.partition("/")[0].endswith(".dist-info")})
    dist_info = dist_infos[0] if len(dist_infos) == 1 else None
    text = files.get(f"{dist_info}/METADATA")
    metadata = parse_metadata(text.content) if text is not None and text.content is not None else None
    return Wheel(
        opened.path,
        opened.size,
        opened.archive,
        files,
        name,
        version,
        tags,
        dist_info,
        metadata if isinstance(metadata, Metadata) else None,
        label if name is not None else "",
    )


def _split_label(filename: str) -> tuple[str, str]:
    """Return a wheel's file name without the label of a wheel variant, and the label; the whole name if it has none."""
    plain, label = split_label(filename)
    try:
        check_label(label)
    except ValueError:
        return filename, ""
    return plain, label


def _parse_name(filename: str) -> tuple[NormalizedName | None, Version | None, frozenset[Tag]]:
    try:
        name, version, _, tags = parse_wheel_filename(filename)
    except ValueError:  # InvalidWheelFilename, InvalidVersion, InvalidTag
        return None, None, frozenset()
    return name, version, tags


def parse_metadata(content: bytes) -> Metadata | list[str]:
    """Parse core metadata strictly; what is wrong with it if it is not valid."""
    if _TOO_LONG.search(content.partition(b"\n\n")[0]):
        return ["a number of more than 4300 digits, which Python does not read"]
    try:
        return Metadata.from_email(content, validate=True)
    except ExceptionGroup as group:
        return [str(error) for error in group.exceptions]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return [f"{type(error).__name__}: {error}"]
