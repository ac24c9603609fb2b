"""Unpacks Debian packages straight into artifacts, without root and without a copy of the package's own tree.

    unpacking = Unpacking(directory)
    for name, file in packages: unpacking.add(name, file)
    unpacking.finish()

Files are written as they are read, links at the end: only then is known where all that they lead to lies.
"""

import posixpath
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lib.common.program import ToolError
from lib.elf.library_name import parse_library_name
from tools.fetch.debian.table import (
    LIBRARIES,
    PREFIXES,
    SYSDEPS,
    TARGET_IN_NAME,
    TARGET_SUFFIXES,
    UNWANTED,
    VERSIONED,
    LayoutRule,
    rule_of,
)

# Where a path of a Debian package lies among artifacts: pure functions over table.py.
#
# Paths are relative, without a leading `./`: paths of packages to the root of the file system, paths of artifacts to
# the install prefix.

#: Where ROCm keeps the system libraries that it brings along.
_SYSDEPS_PREFIX = "lib/rocm_sysdeps/"


def relocated(path: str, rule: LayoutRule) -> str | None:
    """Return where the install prefix has a path of a package; None for what no prefix has."""
    moved = next((new + path[match.end() :] for old, new in PREFIXES if (match := re.match(old, path))), None)
    if rule.base == SYSDEPS:
        # Of system libraries only the libraries themselves: their other files serve the system's programs.
        is_library = moved and posixpath.dirname(moved) == "lib" and parse_library_name(moved)
        return f"{_SYSDEPS_PREFIX}{moved}" if is_library else None
    return None if moved is None or f"{moved}/".startswith(UNWANTED) else moved


def target_of(path: str, rule: LayoutRule) -> str:
    """Return the GPU target that a file is for; `generic` if it is for none, or for several."""
    named = set(TARGET_IN_NAME.findall(posixpath.basename(path))) if path.endswith(TARGET_SUFFIXES) else set()
    is_code = len(named) == 1 and rule.artifact in LIBRARIES and rule.component == "lib"
    return str(named.pop()) if is_code else "generic"


def artifact_of(path: str, rule: LayoutRule) -> str:
    """Return the name of the artifact, `{name}_{component}_{target}`, that a file of a package goes to."""
    return f"{rule.artifact}_{rule.component}_{target_of(path, rule)}"


def link_goal(path: str, text: str) -> str:
    """Return what a link of a package leads to, as a path from the root of the file system."""
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(path), text)).lstrip("/")


def link_text(path: str, goal: str) -> str:
    """Return the text of a link at `path` that leads to `goal`, both in the prefix."""
    return posixpath.relpath(goal, posixpath.dirname(path) or ".")


def licence_of(path: str) -> str:
    """Return the package whose licences a path is, or leads to: `usr/share/doc/{package}/copyright`; else empty."""
    match = re.fullmatch(r"usr/share/doc/([^/]+)(/copyright)?", path)
    return match[1] if match else ""


def licence_path(package: str, artifact: str) -> str:
    """Return where an artifact has the licences of a package; each target has a place of its own."""
    target = artifact.rpartition("_")[2]
    return f"share/doc/{package if target == 'generic' else f'{package}-{target}'}/copyright"


#: A directory of libraries for one architecture ("multiarch"), behind the `lib` that it is in.
_TRIPLET = rb"(?<=/lib)/[a-z0-9_]+-linux-gnu(?:abi[a-z0-9]+)?(?=[/\" )])"
#: Files that name it below their own prefix.
_EVERYWHERE = ((_TRIPLET, b""), (rb"(?<=[\"']lib)/[a-z0-9_]+-linux-gnu(?=/)", b""))
#: How CMake files find their prefix, from the directory that they are in: files of a multiarch directory take one step
#: less, and files that name Debian's prefix take it from where they are.
_CMAKE = (
    # One of a row of equal lines, each of which goes up a directory.
    (
        rb"get_filename_component\((\w+) \"\$\{\1\}\" PATH\)\n((?:get_filename_component\(\1 \"\$\{\1\}\" PATH\)\n)+)",
        rb"\2",
    ),
    (rb"(?<=\}/)\.\./(?=(?:\.\./){2,}\" ABSOLUTE\))", b""),
    (
        rb"set\((_IMPORT_PREFIX|HIP_CLANG_ROOT) \"/usr\"\)",
        rb'get_filename_component(\1 "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)',
    ),
    (rb"\"/usr/lib/llvm-[0-9]+/", b'"${CMAKE_CURRENT_LIST_DIR}/../../llvm/'),
)


def is_text_to_mend(path: str) -> bool:
    """Whether a path of a package may be a text that `edited` changes."""
    return path.endswith((".cmake", ".py"))


def edited(path: str, content: bytes) -> bytes:
    """Return the content that a text has where it has moved."""
    if path.endswith(".cmake") and re.match(r"usr/lib/[a-z0-9_]+-linux-gnu", path):
        for pattern, replacement in _CMAKE:
            content = re.sub(pattern, replacement, content)
    for pattern, replacement in _EVERYWHERE:
        content = re.sub(pattern, replacement, content)
    return content


_DAMAGED = "the package is damaged; fetch the repository again"
#: What to do about a package of ROCm that does not fit.
ROCM_REMEDY = "leave the package out, or give its files another place in tools/fetch/debian/table.py"
#: What to do about a package of any other SDK.
PLAIN_REMEDY = "name the package in `system`, if the user's system may have it instead"


@dataclass(frozen=True)
class Link:
    """A symbolic link of a package, to be made when all files are there."""

    package: str
    rule: LayoutRule
    path: str
    text: str


@dataclass
class Unpacking:
    """Artifacts in the making."""

    directory: Path
    #: What becomes of a package.
    rule_of: Callable[[str], LayoutRule | None] = rule_of
    #: What to do about a package that does not fit beside the others.
    remedy: str = ROCM_REMEDY
    #: Artifact -> its base directories.
    bases: dict[str, set[str]] = field(default_factory=dict)
    #: Package -> the artifacts that have something of it.
    artifacts: dict[str, set[str]] = field(default_factory=dict)
    #: Package -> its licences, or the package that has them.
    licences: dict[str, bytes | str] = field(default_factory=dict)
    #: Path in a package -> path in the prefix, and the file itself.
    _files: dict[str, tuple[str, Path]] = field(default_factory=dict)
    _links: list[Link] = field(default_factory=list)
    #: Debian's name of a directory whose version is lost -> the link of that name.
    _versioned: dict[str, Link] = field(default_factory=dict)
    #: Path in the prefix -> the package that has it.
    _owners: dict[str, str] = field(default_factory=dict)

    def add(self, package: str, file: Path) -> None:
        """Unpack a package. Raises ToolError if it is damaged, or contains a file of another package."""
        rule = self.rule_of(package)
        if rule is None:
            raise ToolError(f"{package}: no rule for it in tools/fetch/debian/table.py; add one")
        # dpkg-deb knows every compression that packages come in.
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", file], stdout=subprocess.PIPE) as unpacker:
            assert unpacker.stdout
            try:
                with tarfile.open(fileobj=unpacker.stdout, mode="r|") as archive:
                    for member in archive:
                        self._member(package, rule, archive, member)
                unpacker.stdout.read()  # what pads the archive; dpkg-deb would die of a closed pipe
            except tarfile.TarError as error:
                raise ToolError(f"{file}: expected a Debian package ({error}); {_DAMAGED}") from None
        if unpacker.returncode:
            raise ToolError(f"{file}: dpkg-deb --fsys-tarfile failed with code {unpacker.returncode}; {_DAMAGED}")

    def _member(self, package: str, rule: LayoutRule, archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        path = member.name.removeprefix("./").rstrip("/")
        if path.startswith("/") or ".." in path.split("/"):
            raise ToolError(f"{package}: the member {member.name!r} leads out of the package; {_DAMAGED}")
        if member.isdir():
            return
        if owner := licence_of(path):
            is_text = member.isfile()
            self.licences[owner] = read(archive, member) if is_text else licence_of(link_goal(path, member.linkname))
        elif member.issym():
            self._links.append(Link(package, rule, path, member.linkname))
        elif new := relocated(path, rule):
            self._file(package, rule, path, new, archive, member)

    def _file(
        self, package: str, rule: LayoutRule, path: str, new: str, archive: tarfile.TarFile, member: tarfile.TarInfo
    ) -> None:
        place = self._place(package, rule, path, new)
        if member.islnk():
            linked = member.linkname.removeprefix("./")
            if linked not in self._files:
                raise ToolError(f"{package}: {path} is a hard link to {linked}, which no artifact has; {self.remedy}")
            place.hardlink_to(self._files[linked][1])
        elif member.isfile():
            if is_text_to_mend(path):
                place.write_bytes(edited(path, read(archive, member)))
            else:
                with place.open("xb") as output, extracted(archive, member) as content:
                    shutil.copyfileobj(content, output, 1 << 20)
            place.chmod(member.mode)  # Which the catalog normalises, or refuses.
        else:
            raise ToolError(f"{package}: {path} is neither a file, a directory nor a link; expected nothing else")
        self._files[path] = (new, place)
        if found := VERSIONED.match(path):
            self._versioned.setdefault(found["name"], Link(package, rule, path, found["plain"]))

    def _place(self, package: str, rule: LayoutRule, path: str, new: str) -> Path:
        """Return where a path of the prefix goes, with its directory made."""
        owner = self._owners.setdefault(new, package)
        artifact = artifact_of(path, rule)
        place = self.directory / artifact / rule.base / new
        if owner != package or place.is_symlink() or place.exists():
            raise ToolError(f"{package}: {path} goes to {new}, which {owner} has already; {self.remedy}")
        place.parent.mkdir(parents=True, exist_ok=True)
        self.bases.setdefault(artifact, set()).add(rule.base)
        self.artifacts.setdefault(package, set()).add(artifact)
        return place

    def finish(self) -> None:
        """Make the links, and add to each artifact the licences of the packages that it is made from."""
        for link in self._links:
            new = relocated(link.path, link.rule)
            goal = link_goal(link.path, link.text)
            moved = self._files[goal][0] if goal in self._files else relocated(goal, link.rule)
            # What leads out of all packages (/etc/alternatives) leads nowhere; what has moved onto itself is there.
            if new and moved and new != moved:
                self._place(link.package, link.rule, link.path, new).symlink_to(link_text(new, moved))
        for name, link in sorted(self._versioned.items()):
            self._place(link.package, link.rule, link.path, name).symlink_to(link.text)
        for package, artifacts in sorted(self.artifacts.items()):
            for artifact in sorted(artifacts):
                self._licence(package, artifact)

    def _licence(self, package: str, artifact: str) -> None:
        owners = [package]
        while isinstance(found := self.licences.get(owners[-1]), str) and found not in owners:
            owners.append(found)
        if not isinstance(found, bytes):
            raise ToolError(
                f"{package}: no licences in usr/share/doc/{owners[-1]}/copyright; add {owners[-1]} to `packages`, or "
                "remove it from `system`"
            )
        rule = self.rule_of(package)
        assert rule
        place = self.directory / artifact / rule.base / licence_path(package, artifact)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(found)
        place.chmod(0o644)


def extracted(archive: tarfile.TarFile, member: tarfile.TarInfo) -> "tarfile.ExFileObject":
    """Open a member that is a file."""
    content = archive.extractfile(member)
    assert isinstance(content, tarfile.ExFileObject)
    return content


def read(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    """Read a small member."""
    with extracted(archive, member) as content:
        return content.read()
