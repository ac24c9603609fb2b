"""A wheel as pip would have installed it: each file with its bytes, which stay deflated.

A member of a wheel that these rules wrote is a run that `pack` made, closed by a final block: without that block, it is
the run again. RECORD has the digest of each. So nothing but small texts is read.
"""

import base64
import configparser
import hashlib
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tools.actions.layer.model import InstallScheme
from tools.lib.common.program import ToolError
from tools.lib.deflate.blocks import FINAL_BLOCK
from tools.lib.wheel.deflated_run import Run, join, small_run
from tools.lib.wheel.record import record_rows, record_text
from tools.lib.wheel.zip_members import DEFLATED, ZipMember
from tools.lib.wheel.zip_reader import read_archive

#: What the file INSTALLER says: the files are where pip would have put them, so pip may remove them.
INSTALLER = b"pip\n"
_EXECUTABLE = 0o111


@dataclass(frozen=True)
class InstalledFile:
    """One file of an image."""

    #: Without `/` at the beginning.
    path: str
    #: Permission bits.
    mode: int
    run: Run
    #: SHA-256 of the file, in hex.
    sha256: str


def _text_file(path: str, content: bytes, mode: int = 0o644) -> InstalledFile:
    return InstalledFile(path, mode, small_run(content), hashlib.sha256(content).hexdigest())


def _runs(wheel: str, file: BinaryIO) -> Iterator[tuple[ZipMember, Run]]:
    """Yield the members and their runs. Raises ToolError for what these rules did not write."""
    archive = read_archive(file)
    if archive.troubles:
        trouble = archive.troubles[0]
        raise ToolError(f"{wheel}: {trouble.member or 'the archive'}: {trouble.evidence}. Build the wheel again")
    for member in archive.members:
        length = member.compressed - len(FINAL_BLOCK)
        file.seek(member.data + max(length, 0))
        if member.method != DEFLATED or length < 0 or file.read(len(FINAL_BLOCK)) != FINAL_BLOCK:
            raise ToolError(
                f"{wheel}: {member.name}: its bytes cannot be joined to a layer, because another program "
                "compressed them; expected a wheel of sdk_wheel or sdk_static_wheel. Make the wheel by these rules"
            )
        yield member, Run(length, member.size, member.crc32, segment=wheel, offset=member.data)


def _check_path(wheel: str, name: str) -> None:
    """Raise ToolError for a name that leads out of site-packages, that no tar holds, or that pip puts elsewhere."""
    parts = name.split("/")
    if {"", ".", ".."} & set(parts) or "\0" in name or any(0xD800 <= ord(char) < 0xE000 for char in name):
        what = "a relative path in UTF-8 without `..`, `.` and empty parts"
    elif parts[0].endswith(".data"):
        what = "no directory `.data`, whose files belong outside of site-packages"
    else:
        return
    raise ToolError(f"{wheel}: {name!r}: no place in an image; expected {what}. Give the file another path")


def _digests(record: bytes) -> dict[str, str]:
    """Return path -> SHA-256 in hex of the files that RECORD has one for."""
    found = {}
    for path, digest, _ in record_rows(record):
        algorithm, _, value = digest.partition("=")
        if algorithm == "sha256":
            found[path] = base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)).hex()
    return found


def script_text(python: str, reference: str) -> str:
    """Return a console script for an object reference, `module:function` (PyPA, "Entry points specification")."""
    module, _, attribute = reference.partition(":")
    imported = attribute.partition(".")[0]
    return f"#!{python}\nimport sys\nfrom {module} import {imported}\n\nsys.exit({attribute}())\n"


def _scripts(wheel: str, entry_points: str, scheme: InstallScheme) -> Iterator[InstalledFile]:
    """Yield the console scripts of a wheel's `entry_points.txt`."""
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names keep their case
    parser.read_string(entry_points)
    if parser.has_section("console_scripts"):
        for name, reference in parser.items("console_scripts"):
            _check_path(wheel, name)
            text = script_text(scheme.python, reference.partition("[")[0].strip())
            yield _text_file(f"{scheme.scripts}/{name}", text.encode(), 0o755)


def _check_places(wheel: str, files: list[InstalledFile]) -> None:
    """Raise ToolError when two files have one path, or one lies in another."""
    seen: set[str] = set()
    directories = {parent for file in files for parent in parents(file.path)}
    for file in files:
        if file.path in seen or file.path in directories:
            raise ToolError(
                f"{wheel}: {file.path}: a second file, or a directory, has this path in the image; expected one file. "
                "Give one of them another path, or choose another `scripts`"
            )
        seen.add(file.path)


def parents(path: str) -> Iterator[str]:
    """Yield the directories above a path, the nearest first."""
    while path := posixpath.dirname(path):
        yield path


def installed_files(wheel: str, scheme: InstallScheme) -> list[InstalledFile]:
    """Return the files, sorted by path. Raises ToolError for a wheel that cannot be a layer as it is."""
    with Path(wheel).open("rb") as file:
        members = {member.name: (member, run) for member, run in _runs(wheel, file)}
    for name in members:
        _check_path(wheel, name)
    records = [name for name in members if name.endswith(".dist-info/RECORD") and name.count("/") == 1]
    if len(records) != 1:
        raise ToolError(f"{wheel}: {len(records)} files RECORD; expected one. Build the wheel again")
    record_name, info = records[0], posixpath.dirname(records[0])
    digests = _digests(_content(members[record_name][1]))
    if missing := sorted(members.keys() - digests.keys() - {record_name}):
        raise ToolError(f"{wheel}: {missing[0]}: RECORD has no SHA-256 of it; expected one. Build the wheel again")
    files = [
        InstalledFile(f"{scheme.site_packages}/{name}", _mode(member), run, digests[name])
        for name, (member, run) in members.items()
        if name != record_name
    ]
    if entry_points := members.get(f"{info}/entry_points.txt"):
        files += _scripts(wheel, _content(entry_points[1]).decode(), scheme)
    files.append(_text_file(f"{scheme.site_packages}/{info}/INSTALLER", INSTALLER))
    own = f"{scheme.site_packages}/{record_name}"
    rows = [(posixpath.relpath(file.path, scheme.site_packages), file.sha256, file.run.size) for file in files]
    files.append(_text_file(own, record_text(sorted(rows), record_name).encode()))
    _check_places(wheel, files)
    return sorted(files, key=lambda file: file.path)


def _content(run: Run) -> bytes:
    return b"".join(join([run]).inflated())


def _mode(member: ZipMember) -> int:
    """Return the mode that pip gives a file with umask 022: of its bits only `executable` counts."""
    return 0o755 if member.mode & _EXECUTABLE else 0o644
