"""A wheel as pip would have installed it: each file with its bytes, which stay deflated.

RECORD has the digest of each file. So nothing but small texts is read of a wheel. A member of a wheel that these rules
wrote is a run that `pack` made, closed by a final block: without that block, it is the run again.
"""

import hashlib
import posixpath
import tarfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from lib.common.program import ToolError, directories_above
from lib.deflate.library import FINAL_BLOCK
from lib.wheel.deflated_run import Run, join, small_run
from lib.wheel.entry_points import read_entry_points
from lib.wheel.record import check_size, record_digests, record_text
from lib.wheel.zip_members import DEFLATED, ZipMember
from lib.wheel.zip_reader import read_archive

#: What the file INSTALLER says: the files are where pip would have put them, so pip may remove them.
INSTALLER = b"pip\n"
_EXECUTABLE = 0o111
#: What links and directories hold.
_NOTHING = Run(0, 0, 0)
_Read = TypeVar("_Read")


@dataclass(frozen=True)
class InstallScheme:
    """Directories in which a Python has its packages (a scheme of `sysconfig`), without `/` at the beginning."""

    #: What Python imports from, such as `usr/lib/python3/dist-packages`.
    site_packages: str
    #: Directory of console scripts.
    scripts: str
    #: The interpreter that they start, an absolute path.
    python: str


@dataclass(frozen=True)
class InstalledFile:
    """One file, link or directory of an image."""

    #: Without `/` at the beginning.
    path: str
    #: Permission bits.
    mode: int
    run: Run
    #: SHA-256 of the file, in hex; empty for links and directories.
    sha256: str
    #: Type of the member of a tar archive, a constant of `tarfile`.
    type: bytes = tarfile.REGTYPE
    #: Text of a link.
    link: str = ""


def symbolic_link(path: str, text: str) -> InstalledFile:
    """Return a symbolic link."""
    return InstalledFile(path, 0o777, _NOTHING, "", tarfile.SYMTYPE, text)


def directory(path: str) -> InstalledFile:
    """Return a directory. All directories have one mode, because several layers may have the same directory."""
    return InstalledFile(path, 0o755, _NOTHING, "", tarfile.DIRTYPE)


def text_file(path: str, content: bytes, mode: int = 0o644) -> InstalledFile:
    """Return a small file."""
    return InstalledFile(path, mode, small_run(content), hashlib.sha256(content).hexdigest())


def _check_path(wheel: str, name: str) -> None:
    """Raise ToolError for a name that leads out of site-packages, that no tar holds, or that pip puts elsewhere."""
    parts = name.split("/")
    if {"", ".", ".."} & set(parts) or "\0" in name or any(0xD800 <= ord(char) < 0xE000 for char in name):
        what = "a relative path in UTF-8 without `..`, `.` and empty parts"
    elif parts[0].endswith(".data"):
        what = "no directory `.data`, whose files belong outside of site-packages"
    else:
        return
    raise ToolError(f"{wheel}: {name!r} cannot be placed in an image; expected {what}. Give the file another path")


def _read_text(wheel: str, path: str, run: Run, read: Callable[[bytes], _Read]) -> _Read:
    """Read a text of the .dist-info directory. Raises ToolError if it is larger than any, or not what it should be."""
    try:
        check_size(run.size)
        return read(b"".join(join([run]).inflated()))
    except ValueError as error:
        raise ToolError(f"{wheel}: {path}: {error}. Build the wheel again") from None


def script_text(python: str, module: str, attribute: str) -> str:
    """Return a script for an object of a module (PyPA, "Entry points specification")."""
    imported = attribute.partition(".")[0]
    return f"#!{python}\nimport sys\nfrom {module} import {imported}\n\nsys.exit({attribute}())\n"


def _scripts(wheel: str, path: str, run: Run, scheme: InstallScheme) -> Iterator[InstalledFile]:
    """Yield the scripts that pip makes of a wheel's `entry_points.txt`."""
    for one in _read_text(wheel, path, run, read_entry_points):
        if not one.is_script:
            continue
        _check_path(wheel, one.name)
        if not one.attribute:
            raise ToolError(
                f"{wheel}: {path}: {one.name} = {one.reference!r}; expected `module:function`. Build the wheel again"
            )
        text = script_text(scheme.python, one.module, one.attribute)
        yield text_file(f"{scheme.scripts}/{one.name}", text.encode(), 0o755)


def ordered(source: str, files: Iterable[InstalledFile]) -> list[InstalledFile]:
    """Return the files, sorted by path. Raises ToolError when two have one path, or one lies in another.

    `source` is what they come from, for errors.
    """
    found = sorted(files, key=lambda file: file.path)
    seen: set[str] = set()
    directories = {parent for file in found for parent in directories_above(file.path)}
    for file in found:
        if file.path in seen or (file.path in directories and file.type != tarfile.DIRTYPE):
            raise ToolError(
                f"{source}: {file.path}: a second file, or a directory, has this path in the image; expected one file. "
                "Give one of them another path, or choose another `scripts`"
            )
        seen.add(file.path)
    return found


@dataclass(frozen=True)
class InstalledWheel:
    """A wheel as it is installed: its files, without RECORD, relative to site-packages."""

    wheel: str
    scheme: InstallScheme
    #: Path of RECORD.
    record: str
    files: tuple[InstalledFile, ...]

    def with_record(self, rows: Iterable[str] = ()) -> list[InstalledFile]:
        """Return all files as the image has them, sorted by path. RECORD lists them, and `rows` without a digest."""
        listed = [file for file in self.files if file.type != tarfile.DIRTYPE]
        lines = [(file.path, file.sha256, file.run.size) for file in listed]
        text = record_text(sorted([*lines, *((row, "", 0) for row in rows)]), self.record)
        files = [*self.files, text_file(self.record, text.encode())]
        placed = (in_image(file, self.scheme.site_packages) for file in files)
        return ordered(self.wheel, placed)


def in_image(file: InstalledFile, site_packages: str) -> InstalledFile:
    """Return a file whose path is relative to site-packages as the image has it."""
    return replace(file, path=posixpath.normpath(posixpath.join(site_packages, file.path)))


def _members(wheel: str) -> Iterator[tuple[ZipMember, Run]]:
    """Yield the members of a wheel that these rules wrote, without reading them. Raises ToolError for another one."""
    with Path(wheel).open("rb") as file:
        archive = read_archive(file)
        if trouble := archive.damage:
            raise ToolError(f"{wheel}: {trouble.member or 'the archive'}: {trouble.evidence}. Build the wheel again")
        for member in archive.members:
            length = member.compressed - len(FINAL_BLOCK)
            file.seek(member.data + max(length, 0))
            if member.method != DEFLATED or file.read(len(FINAL_BLOCK)) != FINAL_BLOCK:
                raise ToolError(
                    f"{wheel}: {member.name}: its bytes cannot be joined to a layer, because another program "
                    "compressed them; expected a wheel of sdk_wheel or sdk_static_wheel. Build it with them"
                )
            yield member, Run(length, member.size, member.crc32, segment=wheel, offset=member.data)


def read_wheel(wheel: str, scheme: InstallScheme) -> InstalledWheel:
    """Read a wheel. Raises ToolError if it cannot become a layer as it is."""
    members = {member.name: (member, run) for member, run in _members(wheel)}
    for name in members:
        _check_path(wheel, name)
    records = [name for name in members if name.endswith(".dist-info/RECORD") and name.count("/") == 1]
    if len(records) != 1:
        raise ToolError(f"{wheel}: {len(records)} files named RECORD; expected one. Build the wheel again")
    record, info = records[0], posixpath.dirname(records[0])
    files = list(_files(wheel, members, record))
    if entry_points := members.get(f"{info}/entry_points.txt"):
        scripts = _scripts(wheel, f"{info}/entry_points.txt", entry_points[1], scheme)
        files += [replace(file, path=posixpath.relpath(file.path, scheme.site_packages)) for file in scripts]
    files.append(text_file(f"{info}/INSTALLER", INSTALLER))
    return InstalledWheel(wheel, scheme, record, tuple(files))


def _files(wheel: str, members: dict[str, tuple[ZipMember, Run]], record: str) -> Iterator[InstalledFile]:
    """Yield the files of a wheel except RECORD, with the digests that this has of them."""
    digests = _read_text(wheel, record, members[record][1], record_digests)
    if missing := sorted(name for name in members.keys() - {record} if not digests.get(name)):
        raise ToolError(f"{wheel}: {missing[0]}: RECORD has no SHA-256 of it; expected one. Build the wheel again")
    for name, (member, run) in members.items():
        if name != record:
            yield InstalledFile(name, _mode(member), run, digests[name])


def _mode(member: ZipMember) -> int:
    """Return the mode that pip gives a file with umask 022: of its bits only `executable` counts."""
    return 0o755 if member.mode & _EXECUTABLE else 0o644
