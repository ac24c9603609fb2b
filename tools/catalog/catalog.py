"""Scans a directory of ROCm artifacts for the repository rule `catalog`.

Bazel's inputs are files: links, modes and empty directories are lost on the way to an
action, and some names cannot be labels. So this program, run when the repository is
fetched, walks each artifact once, leaves one link per regular file under a name that a
label can hold, and records the truth in a manifest that travels beside the files:

    catalog.py --artifacts DIR --repository CANONICAL_NAME --output DIR

writes into the output directory `BUILD.bazel`, `artifacts.bzl`, `manifests/*.json`,
`files/…` and `directories.txt` (the directories whose listings the rule then watches).
It stands alone, on the standard library, because it runs before anything is fetched.
"""

from __future__ import annotations

import argparse
import json
import os
import posixpath
import re
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

#: Files of at least this many bytes get inspect and pack actions of their own.
BIG_FILE_BYTES = 16 << 20
COMPONENTS = ("lib", "run", "dev", "dbg", "doc", "test")
MANIFEST_NAME = "artifact_manifest.txt"
#: Names that would make a directory a Bazel package or stop Bazel's globbing.
RESERVED_NAMES = frozenset({"BUILD", "BUILD.bazel", "WORKSPACE", "WORKSPACE.bazel", "MODULE.bazel", "REPO.bazel"})


class CatalogError(Exception):
    """The artifacts directory cannot be used; the message names the file and the remedy."""


@dataclass
class Artifact:
    """One artifact folder: its name's parts, its entries and its directories."""

    folder: Path
    name: str
    component: str
    target: str
    entries: list[dict[str, str]] = field(default_factory=list)
    small: list[str] = field(default_factory=list)
    big: list[str] = field(default_factory=list)
    directories: list[Path] = field(default_factory=list)


def escape(path: str) -> str:
    """Returns a path that a Bazel label can hold and from which `path` can be read.

    `%`, `=`, `:`, `\\` and control characters become `%XX`; a reserved name gets a final `%`.
    """
    escaped = re.sub(r"[%=:\\\x00-\x1f\x7f]", lambda match: f"%{ord(match.group()):02X}", path)
    return "/".join(part + "%" if part in RESERVED_NAMES else part for part in escaped.split("/"))


def parse_name(folder: Path) -> Artifact:
    """Splits `{name}_{component}_{target}`; raises CatalogError if that is not the form."""
    parts = folder.name.split("_")
    if len(parts) != 3 or parts[1] not in COMPONENTS or not all(parts):
        raise CatalogError(
            f"{folder}: expected a folder named {{name}}_{{component}}_{{target}} with a component of "
            f"{', '.join(COMPONENTS)}; rename it, or move it out of the artifacts directory"
        )
    return Artifact(folder, *parts)


def base_directories(folder: Path) -> list[str]:
    """Reads `artifact_manifest.txt`: the base directories, relative to the artifact's folder."""
    manifest = folder / MANIFEST_NAME
    if not manifest.is_file():
        raise CatalogError(
            f"{folder}: no {MANIFEST_NAME} in it; each artifact lists its base directories there, one a line. "
            "Fetch the artifact anew, or move the folder out of the artifacts directory"
        )
    bases = []
    for line in manifest.read_text(encoding="utf-8").splitlines():
        if not (base := line.strip()):
            continue
        if base.startswith("/") or ".." in base.split("/"):
            raise CatalogError(f"{manifest}: {base!r} leads outside the artifact; expected a relative path without '..'")
        if not (folder / base).is_dir():
            raise CatalogError(f"{manifest}: names {base!r}, but there is no such directory in {folder}; fetch it anew")
        bases.append(posixpath.normpath(base))
    return sorted(set(bases))


def check_name(path: str, where: Path) -> None:
    """Refuses names that no manifest line, params file or wheel can hold."""
    if any(ord(character) < 32 or ord(character) == 127 for character in path):
        raise CatalogError(f"{where}: the name {path!r} holds a control character; rename the file")
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise CatalogError(f"{where}: the name {path!r} is not UTF-8; rename the file") from None


def check_link(path: str, target: str, where: Path) -> None:
    """Refuses a link that leads out of the install prefix in which all artifacts are merged."""
    resolved = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    if target.startswith("/") or resolved == ".." or resolved.startswith("../"):
        raise CatalogError(
            f"{where}: the link {path} -> {target} leads outside the artifact tree; expected a relative link that "
            "stays inside. Make it relative, or leave it out of the artifact"
        )


def walk(artifact: Artifact, directory: Path) -> Iterator[os.DirEntry[str]]:
    """Yields every entry below a directory, depth first and sorted; links are not followed."""
    artifact.directories.append(directory)
    with os.scandir(directory) as listing:
        children = sorted(listing, key=lambda entry: entry.name)
    for child in children:
        yield child
        if child.is_dir(follow_symlinks=False):
            yield from walk(artifact, Path(child.path))


def scan(artifact: Artifact, repository: str) -> None:
    """Fills in the entries of an artifact, with the names its files have in the repository."""
    folder = artifact.folder.name
    for base in base_directories(artifact.folder):
        root = artifact.folder / base
        for found in walk(artifact, root):
            path = os.path.relpath(found.path, root)
            check_name(path, root)
            entry = {"base": base, "path": path}
            status = found.stat(follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                target = os.readlink(found.path)
                check_link(path, target, root)
                entry |= {"kind": "link", "target": target}
            elif stat.S_ISDIR(status.st_mode):
                entry |= {"kind": "directory", "mode": f"{stat.S_IMODE(status.st_mode):04o}"}
            elif stat.S_ISREG(status.st_mode):
                label = escape(f"files/{folder}/{base}/{path}")
                entry |= {"kind": "file", "mode": f"{stat.S_IMODE(status.st_mode):04o}", "file": f"../{repository}/{label}"}
                (artifact.big if status.st_size >= BIG_FILE_BYTES else artifact.small).append(label)
            else:
                raise CatalogError(f"{found.path}: neither a file, a directory nor a link; remove it from the artifact")
            artifact.entries.append(entry)


def is_split(artifacts: list[Artifact]) -> bool:
    """Reads `flags.KPACK_SPLIT_ARTIFACTS` of the therock_manifest.json; absent means false."""
    for artifact in artifacts:
        for entry in artifact.entries:
            if entry["path"] == "share/therock/therock_manifest.json" and entry["kind"] == "file":
                text = (artifact.folder / entry["base"] / entry["path"]).read_text(encoding="utf-8")
                try:
                    return bool(json.loads(text).get("flags", {}).get("KPACK_SPLIT_ARTIFACTS", False))
                except (ValueError, AttributeError) as error:
                    raise CatalogError(f"{artifact.folder}: {entry['path']} is not the JSON object expected: {error}") from None
    return False


def dist_targets(artifacts: list[Artifact]) -> list[str]:
    """Reads `dist_amdgpu_targets` of dist_info.json, in the order written; none if there is no such file."""
    for artifact in artifacts:
        for entry in artifact.entries:
            if entry["path"] == "share/therock/dist_info.json" and entry["kind"] == "file":
                text = (artifact.folder / entry["base"] / entry["path"]).read_text(encoding="utf-8")
                return [target for target in json.loads(text).get("dist_amdgpu_targets", "").split(";") if target]
    return []


def build_file(artifacts: list[Artifact]) -> str:
    """The text of BUILD.bazel: one `catalogued_artifact` per artifact."""
    lines = [
        'load("@rules_rocm_python//rules/private:catalogued_artifact.bzl", "catalogued_artifact")\n',
        'package(default_visibility = ["//visibility:public"])\n',
    ]
    for artifact in artifacts:
        attributes = {
            "name": escape(artifact.folder.name),
            "artifact_name": artifact.name,
            "big_srcs": artifact.big,
            "component": artifact.component,
            "manifest": f"manifests/{escape(artifact.folder.name)}.json",
            "srcs": artifact.small,
            "target": artifact.target,
        }
        body = "".join(f"    {key} = {json.dumps(value, ensure_ascii=False)},\n" for key, value in attributes.items())
        lines.append(f"catalogued_artifact(\n{body})\n")
    return "\n".join(lines)


def loadable_file(artifacts: list[Artifact]) -> str:
    """The text of artifacts.bzl: what `packaging/` needs to know when it is loaded."""
    rows = "".join(
        f"    struct(name = {json.dumps(a.name)}, component = {json.dumps(a.component)}, target = {json.dumps(a.target)}, "
        f'label = str(Label("//:{escape(a.folder.name)}"))),\n'
        for a in artifacts
    )
    return (
        '"""The artifacts found in ROCM_ARTIFACTS_DIR."""\n\n'
        f"SPLIT = {is_split(artifacts)}\n\nDIST_TARGETS = {json.dumps(dist_targets(artifacts))}\n\nARTIFACTS = [\n{rows}]\n"
    )


def write_repository(artifacts: list[Artifact], output: Path) -> None:
    """Writes the links, the manifests and the Bazel files."""
    for artifact in artifacts:
        for entry in artifact.entries:
            if entry["kind"] == "file":
                link = output / entry["file"].split("/", 2)[2]
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(artifact.folder / entry["base"] / entry["path"])
        manifest = output / "manifests" / f"{escape(artifact.folder.name)}.json"
        manifest.parent.mkdir(exist_ok=True)
        document = {"artifact": artifact.folder.name, "entries": artifact.entries}
        manifest.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (output / "BUILD.bazel").write_text(build_file(artifacts), encoding="utf-8")
    (output / "artifacts.bzl").write_text(loadable_file(artifacts), encoding="utf-8")
    directories = [str(directory) for artifact in artifacts for directory in artifact.directories]
    (output / "directories.txt").write_text("".join(f"{path}\n" for path in directories), encoding="utf-8")


def find_artifacts(directory: Path) -> list[Artifact]:
    """Lists the artifact folders of a directory, sorted by name."""
    try:
        folders = sorted(path for path in directory.iterdir() if not path.name.startswith(".") and path.is_dir())
    except OSError as error:
        raise CatalogError(
            f"ROCM_ARTIFACTS_DIR={directory}: cannot be read ({error.strerror}); expected a directory of artifact "
            "folders. Set --repo_env=ROCM_ARTIFACTS_DIR=/absolute/path, or unset it to build the example SDK"
        ) from None
    if not folders:
        raise CatalogError(f"ROCM_ARTIFACTS_DIR={directory}: holds no artifact folders ({{name}}_{{component}}_{{target}})")
    return [parse_name(folder) for folder in folders]


def main(argv: list[str]) -> int:
    """Runs the scan; returns 1 with one line on standard error when the input cannot be used."""
    parser = argparse.ArgumentParser(description="Writes the files of the repository of ROCm artifacts.")
    parser.add_argument("--artifacts", type=Path, required=True, help="directory of artifact folders")
    parser.add_argument("--repository", required=True, help="canonical name of the repository")
    parser.add_argument("--output", type=Path, required=True, help="directory of the repository")
    args = parser.parse_args(argv)
    try:
        artifacts = find_artifacts(args.artifacts)
        for artifact in artifacts:
            scan(artifact, args.repository)
        write_repository(artifacts, args.output)
    except CatalogError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename}: {error.strerror}; check its permissions", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
