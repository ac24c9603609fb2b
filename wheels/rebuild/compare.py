"""Compares a distribution with its rebuilt counterpart: members, then everything that decided them."""

import hashlib
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from lib.common.program import ToolError
from lib.provenance.statement import Material, Statement

#: Of a member of an archive: the SHA-256 of its content, and what else of it an archive has.
_Member = tuple[str, tuple[object, ...]]


def _digest(file: IO[bytes]) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def _members(path: Path) -> Iterator[tuple[str, _Member]]:
    if path.name.endswith(".whl"):
        with zipfile.ZipFile(path) as archive:
            for one in archive.infolist():
                with archive.open(one) as file:
                    rest = one.external_attr, one.date_time, one.compress_type, one.compress_size
                    yield one.filename, (_digest(file), rest)
        return
    with tarfile.open(path) as sdist:
        for entry in sdist:
            content = sdist.extractfile(entry) if entry.isfile() else None
            header = entry.mode, entry.mtime, entry.type, entry.linkname
            yield entry.name, (_digest(content) if content else "", header)


def compare_members(given: Path, built: Path) -> list[str]:
    """Return a line for each member that differs; RECORD, which follows from others, is the last.

    Raises ToolError if an archive cannot be read.
    """
    try:
        there, again = dict(_members(given)), dict(_members(built))
    except (zipfile.BadZipFile, tarfile.TarError, OSError) as error:
        raise ToolError(f"{given}: cannot be compared: {error}. Download it again") from None
    lines = []
    for name in sorted(there.keys() | again.keys(), key=lambda one: (one.endswith(".dist-info/RECORD"), one)):
        one, other = there.get(name), again.get(name)
        if one is None or other is None:
            lines.append(f"{name}: only in the {'rebuilt' if one is None else 'given'} distribution")
        elif one[0] != other[0]:
            lines.append(f"{name}: expected sha256 {one[0]}, built {other[0]}")
        elif one != other:
            lines.append(f"{name}: same content, but another mode, date or compression")
    return lines or ["same members, but in another order or with other bytes between them"]


def compare_inputs(expected: Statement, found: Statement) -> list[str]:
    """Return a line for each material, setting and variable that differs between two statements."""
    ours, theirs = ({one.name: one for one in statement.materials} for statement in (expected, found))
    lines = [_material(name, ours.get(name), theirs.get(name)) for name in sorted(ours.keys() | theirs.keys())]
    lines += _differing("setting", expected.settings, found.settings)
    lines += _differing("variable", expected.environment, found.environment)
    return [line for line in lines if line]


def _material(name: str, expected: Material | None, found: Material | None) -> str:
    if expected is None or found is None:
        return f"{name}: {'was no input' if expected is None else f'expected {expected.shown}, found nothing'}"
    return "" if expected.equals(found) else f"{name}: expected {expected.shown}, found {found.shown}"


def _differing(kind: str, expected: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    names = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
    return [f"{kind} {name}: expected {expected.get(name)!r}, found {found.get(name)!r}" for name in names]
