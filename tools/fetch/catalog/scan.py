"""The scan of one artifact's folder: its base directories, and every entry below them with mode and link text."""

import json
import os
import posixpath
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from tools.fetch.catalog.names import MANIFEST_NAME, ArtifactName, CatalogError, check_link, check_name, escape

#: The modes that manifests have: of directories and of files that the owner may execute, and of all others. What else a
#: mode says is the umask of whoever unpacked the artifact, and is not packaged.
EXECUTABLE = 0o755
PLAIN = 0o644

#: Files of at least this many bytes get inspect and pack actions of their own.
BIG_FILE_BYTES = 32 << 20
#: A unit gets another thread for each so many bytes, which one deflates in about a second.
BYTES_PER_THREAD = 128 << 20
THREADS_MAX = 8


@dataclass
class ScannedArtifact:
    """One artifact folder: its name, its entries and its directories."""

    folder: Path
    name: ArtifactName
    entries: list[dict[str, str]] = field(default_factory=list)
    #: Labels of the small files: keys of a dictionary, which has each once, in the order found.
    small: dict[str, None] = field(default_factory=dict)
    #: Bytes of all small files together.
    small_size: int = 0
    #: Label of each big file -> how many threads packing it can use.
    big: dict[str, int] = field(default_factory=dict)
    directories: list[Path] = field(default_factory=list)

    def unit_manifest(self, label: str | None) -> str:
        """Return the path of the manifest of a big file, given by its label, or of all small ones."""
        prefix = f"files/{self.name.label_name}/"
        unit = f"big/{label.removeprefix(prefix)}" if label else "small"
        return f"manifests/{self.name.label_name}/{unit}.json"


def threads(size: int) -> int:
    """Return how many threads packing `size` bytes can use: 1, 2, 4 or 8, of which machines have multiples."""
    wanted = min(max(1, size // BYTES_PER_THREAD), THREADS_MAX)
    return 1 << (wanted.bit_length() - 1)


#: The extended attribute that has a file's capabilities (capabilities(7)).
CAPABILITY = "security.capability"


def normal_mode(mode: int) -> int:
    """Return the mode that a file with these permission bits has in every package: `EXECUTABLE` or `PLAIN`."""
    return EXECUTABLE if mode & stat.S_IXUSR else PLAIN


#: Bytes that a list of directories, or what a build says of itself, may have at most.
TEXT_MAX = 16 << 20


def read_text(path: Path) -> str:
    """Read a small file; raises CatalogError if it is large, or not UTF-8."""
    if (size := path.stat().st_size) > TEXT_MAX:
        raise CatalogError(f"{path}: {size} bytes; expected a text of at most {TEXT_MAX}. Replace the artifact")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CatalogError(f"{path}: expected a text in UTF-8 ({error}); replace the artifact") from None


def base_directories(folder: Path) -> list[str]:
    """Read `artifact_manifest.txt`: the base directories, relative to the artifact's folder."""
    manifest = folder / MANIFEST_NAME
    if not manifest.is_file():
        raise CatalogError(
            f"{folder}: no {MANIFEST_NAME} in it; each artifact lists its base directories there, one a line. "
            "Replace the artifact, or move the folder out of the artifacts directory"
        )
    bases = sorted({line.strip() for line in read_text(manifest).splitlines() if line.strip()})
    for base in bases:
        check_base(base, folder)
    check_nothing_is_lost(folder, bases, manifest)
    return sorted({posixpath.normpath(base) for base in bases})


def check_base(base: str, folder: Path) -> None:
    """Refuse a base directory that is not a directory, or through a link not in the folder; raises CatalogError.

    A missing one is empty: AMD's kpack splitter lists each that gave device code, but makes only the first.
    """
    manifest = folder / MANIFEST_NAME
    check_name(base, manifest)
    if base.startswith("/") or ".." in base.split("/"):
        raise CatalogError(f"{manifest}: {base!r} leads outside the artifact; expected a relative path without '..'")
    if posixpath.normpath(base) == ".":
        raise CatalogError(f"{manifest}: {base!r} is the artifact's folder itself; expected a directory in it")
    place = existing(folder / base)
    if not place.is_dir():
        raise CatalogError(f"{manifest}: names {base!r}, but {place} is not a directory; replace it")
    if not place.resolve().is_relative_to(folder.resolve()):
        raise CatalogError(
            f"{manifest}: {base!r} is or goes through a link that leads outside the artifact; expected a directory in "
            f"{folder}. Put the directory itself there"
        )


def check_nothing_is_lost(folder: Path, bases: Sequence[str], manifest: Path | str) -> None:
    """Refuse a manifest that misspells a base directory; raises CatalogError.

    That is, it names a directory that is not there, and there are files in directories that it does not name.
    """
    listed = {posixpath.normpath(base) for base in bases}
    absent = [base for base in bases if existing(folder / base) != folder / base]
    if absent and (lost := _first_outside(folder, listed)):
        raise CatalogError(
            f"{manifest}: names {absent[0]!r}, which is not there, and no directory that has {lost!r}, which is; "
            "expected the base directories, one a line, and nothing else. Mend it"
        )


def _first_outside(folder: Path, listed: Collection[str]) -> str:
    """Return a file or link in a directory of an artifact that lies in none of those that are listed; "" without any.

    What lies at the top, such as the manifest itself, is in no base directory, and not meant.
    """
    for directory, names, files in os.walk(folder):
        paths = {name: Path(directory, name).relative_to(folder).as_posix() for name in sorted([*names, *files])}
        links = [name for name in names if Path(directory, name).is_symlink()]
        if directory != str(folder) and (found := sorted([*files, *links])):
            return paths[found[0]]
        names[:] = sorted(name for name in names if paths[name] not in listed)
    return ""


def existing(path: Path) -> Path:
    """Return the path, or if there is nothing, the nearest one above it where there is something."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return existing(path.parent)
    return path


def walk(artifact: ScannedArtifact, directory: Path) -> Iterator[os.DirEntry[str]]:
    """Yield every entry below a directory, however deep, depth first and sorted; links are not followed."""

    def children(path: Path) -> Iterator[os.DirEntry[str]]:
        _check_directory(path)
        artifact.directories.append(path)
        with os.scandir(path) as listing:
            return iter(sorted(listing, key=lambda entry: entry.name))

    levels = [children(directory)]
    while levels:
        child = next(levels[-1], None)
        if child is None:
            levels.pop()
            continue
        yield child
        if child.is_dir(follow_symlinks=False):
            levels.append(children(Path(child.path)))


def scan(folder: Path, name: ArtifactName, repository: str) -> ScannedArtifact:
    """Return an artifact with its entries, and with the names that its files have in the repository."""
    artifact = ScannedArtifact(folder, name)
    _check_directory(folder.parent)
    _check_directory(folder)
    for base in base_directories(folder):
        root = existing(folder / base)
        for directory in reversed(root.relative_to(folder).parents[:-1]):
            _check_directory(folder / directory)
        if root != folder / base:
            artifact.directories.append(root)
            continue
        for found in walk(artifact, root):
            artifact.entries.append(_entry(artifact, base, found, repository))
    return artifact


def _entry(artifact: ScannedArtifact, base: str, found: os.DirEntry[str], repository: str) -> dict[str, str]:
    """Return the manifest's entry for one path. If the path is a file, also add it to one of the artifact's units."""
    root = artifact.folder / base
    path = os.path.relpath(found.path, root)
    check_name(path, root)
    entry = {"base": base, "path": path}
    status = found.stat(follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        target = os.readlink(found.path)  # noqa: PTH115 - Path would not keep the text as it is
        check_link(path, target, root)
        return entry | {"kind": "link", "target": target}
    if stat.S_ISDIR(status.st_mode):
        return entry | {"kind": "directory", "mode": f"{EXECUTABLE:04o}"}
    if not stat.S_ISREG(status.st_mode):
        raise CatalogError(f"{found.path}: neither a file, a directory nor a link; remove it from the artifact")
    mode = _checked_mode(found.path, status.st_mode)
    label = escape(f"files/{artifact.name}/{base}/{path}")
    if status.st_size >= BIG_FILE_BYTES:
        artifact.big[label] = threads(status.st_size)
    elif label not in artifact.small:  # A base directory may lie in another one: then both have the file.
        artifact.small[label] = None
        artifact.small_size += status.st_size
    return entry | {"kind": "file", "mode": f"{mode:04o}", "file": f"../{repository}/{label}"}


def _check_directory(path: Path) -> None:
    """Raise CatalogError for a directory that cannot be read, as `_checked_mode` does for files; links are followed."""
    mode = path.stat().st_mode
    enter = (stat.S_IRUSR | stat.S_IXUSR, stat.S_IRGRP | stat.S_IXGRP, stat.S_IROTH | stat.S_IXOTH)
    if not any(mode & bits == bits for bits in enter) or not os.access(path, os.R_OK | os.X_OK):
        raise CatalogError(f"{path}: cannot be read (mode {stat.S_IMODE(mode):04o}); make it readable: chmod a+rx")


def _checked_mode(path: str, mode: int) -> int:
    """Return the mode that a file gets. Raises CatalogError for a mode that no package may have, or nobody can read.

    root can read everything, but the actions that it runs in a sandbox cannot: what nobody may read is refused, too.
    """
    readable_by_all = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH
    if mode & readable_by_all != readable_by_all and not (mode & readable_by_all and os.access(path, os.R_OK)):
        raise CatalogError(f"{path}: cannot be read (mode {stat.S_IMODE(mode):04o}); make it readable: chmod a+r")
    if _has_capabilities(path):
        raise CatalogError(f"{path}: a file with capabilities, not allowed in packages; remove them: setcap -r {path}")
    if mode & (stat.S_ISUID | stat.S_ISGID):
        reason = f"set-user-ID or set-group-ID file (mode {stat.S_IMODE(mode):04o}), not allowed in packages"
        raise CatalogError(f"{path}: {reason}; remove those bits: chmod u-s,g-s")
    return normal_mode(mode)


def _has_capabilities(path: str) -> bool:
    try:
        return bool(os.getxattr(path, CAPABILITY, follow_symlinks=False))
    except (AttributeError, OSError):  # Other systems and some file systems have none.
        return False


#: The name of the artifacts that tell about the build. Of archives, only those are looked into.
BASE = "base"
#: Paths below a base directory.
THEROCK_MANIFEST = "share/therock/therock_manifest.json"
DIST_INFO = "share/therock/dist_info.json"

T = TypeVar("T")


def about_files(artifacts: Sequence[ScannedArtifact]) -> list[Path]:
    """List the files that tell about the build."""
    return [
        artifact.folder / entry["base"] / entry["path"]
        for artifact in artifacts
        for entry in artifact.entries
        if entry["path"] in (THEROCK_MANIFEST, DIST_INFO) and entry["kind"] == "file"
    ]


def _told(artifacts: Sequence[ScannedArtifact], file: str, key: str, default: T) -> T:
    """Read a key of a JSON object, of the first artifact that has this file; the default if it is not there.

    Raises CatalogError if the file has no such object, or the value is not of the default's type.
    """
    path = next((one for one in about_files(artifacts) if str(one).endswith(file)), None)
    if path is None:
        return default
    try:
        value = json.loads(read_text(path)).get(key, default)
    except (ValueError, AttributeError) as error:
        raise CatalogError(f"{path}: expected a JSON object ({error}); replace the artifact") from None
    if not isinstance(value, type(default)):
        raise CatalogError(f"{path}: {key} is {value!r}; expected a value like {default!r}")
    return value


def is_split(artifacts: Sequence[ScannedArtifact]) -> bool:
    """Read `flags.KPACK_SPLIT_ARTIFACTS` of therock_manifest.json; absent means false."""
    flags: dict[str, object] = {}
    return bool(_told(artifacts, THEROCK_MANIFEST, "flags", flags).get("KPACK_SPLIT_ARTIFACTS", False))


def dist_targets(artifacts: Sequence[ScannedArtifact]) -> list[str]:
    """Read `dist_amdgpu_targets` of dist_info.json, in the order written; none if there is none."""
    return [target for target in _told(artifacts, DIST_INFO, "dist_amdgpu_targets", "").split(";") if target]
