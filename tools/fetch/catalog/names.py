"""Names: of artifacts, of files as labels can hold them, and those that are refused because nothing downstream can."""

import hashlib
import posixpath
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from lib.gpus.families import with_colons


class CatalogError(Exception):
    """The artifacts cannot be used; the message names the file and the remedy."""


#: Parts of a build. names.bzl of the rules has them, too; tests/lint compares them.
COMPONENTS = ("lib", "run", "dev", "dbg", "doc", "test")
#: What names of archives end with: a tar archive, compressed with zstd, xz or gzip. fingerprint.sh and
#: artifact_archive.bzl have copies; tests/lint compares them.
ARCHIVES = (".tar.zst", ".tar.xz", ".tar.gz")
MANIFEST_NAME = "artifact_manifest.txt"
#: Names that would make a directory a Bazel package or stop Bazel's globbing, and its wildcard for packages.
RESERVED_NAMES = frozenset(
    {"...", "BUILD", "BUILD.bazel", "WORKSPACE", "WORKSPACE.bazel", "MODULE.bazel", "REPO.bazel"}
)
#: Bytes that a part of an escaped path has at most. File systems take 255 (NAME_MAX); manifests and outputs of actions
#: are named by it, too, with something behind it.
PART_MAX = 200


@dataclass(frozen=True)
class ArtifactName:
    """`{name}_{component}_{target}`, in its parts."""

    name: str
    component: str
    target: str

    def __str__(self) -> str:
        return f"{self.name}_{self.component}_{self.target}"

    @property
    def label_name(self) -> str:
        """The whole name, as a target may have it."""
        return escape(str(self))


def parse_name(text: str, where: Path | str, what: str = "a folder") -> ArtifactName:
    """Split `{name}_{component}_{target}`, of which the name may have `_`; raises CatalogError for another form.

    `where` is what the error calls the thing that has the name, and `what` says which kind of thing that is.
    """
    name, component, target = ("", "", *text.rsplit("_", 2))[-3:]
    if component not in COMPONENTS or not name or not target:
        raise CatalogError(
            f"{where}: expected {what} named {{name}}_{{component}}_{{target}} with a component of "
            f"{', '.join(COMPONENTS)}; rename it, or move it out of the artifacts directory"
        )
    if (right := with_colons(target)) != target:
        raise CatalogError(
            f"{where}: the target {target} has features after '-'; expected {right}. "
            f"Rename it to {name}_{component}_{right}"
        )
    return ArtifactName(name, component, target)


def archive_suffix(file_name: str) -> str:
    """Return which of `ARCHIVES` a file's name ends with; empty if with none."""
    return next((suffix for suffix in ARCHIVES if file_name.endswith(suffix)), "")


def escape(path: str) -> str:
    r"""Return a path that a Bazel label can hold, another one for each path.

    `%`, `=`, `:`, `\` and control characters become `%XX`; a reserved name gets a final `%`. Of a part that is longer
    than `PART_MAX` then, the beginning is left, with `%-` and 32 hex digits of the part's SHA-256 behind it.
    """
    return "/".join(map(_escaped_part, path.split("/")))


def _escaped_part(part: str) -> str:
    escaped = re.sub(r"[%=:\\\x00-\x1f\x7f]", lambda match: f"%{ord(match.group()):02X}", part)
    escaped += "%" if part in RESERVED_NAMES else ""
    if len(encoded := escaped.encode("utf-8", "surrogateescape")) <= PART_MAX:
        return escaped
    end = f"%-{hashlib.sha256(encoded).hexdigest()[:32]}"
    return encoded[: PART_MAX - len(end)].decode("utf-8", "ignore") + end


def check_name(path: str, where: Path | str) -> None:
    """Refuse names that no manifest line, params file or wheel can hold; raises CatalogError."""
    if any(unicodedata.category(character) in ("Cc", "Zl", "Zp") for character in path):
        raise CatalogError(f"{where}: the name {path!r} contains a control character; rename it")
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise CatalogError(f"{where}: the name {path!r} is not UTF-8; rename it") from None


def check_link(path: str, target: str, where: Path | str) -> None:
    """Refuse a link that leads out of the install prefix in which all artifacts are merged; raises CatalogError."""
    check_name(target, f"{where}/{path}")
    resolved = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    if target.startswith("/") or resolved == ".." or resolved.startswith("../"):
        raise CatalogError(
            f"{where}: the link {path} -> {target} leads outside the artifact tree; expected a relative link that "
            "stays inside. Make it relative, or leave it out of the artifact"
        )
