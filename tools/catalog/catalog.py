"""Scans a directory of ROCm artifacts for the repository rule `catalog`.

Bazel's inputs are files: links, modes and empty directories are lost on the way to an
action, and some names cannot be labels. So this program, run when the repository is
fetched, walks each artifact once, leaves one link per regular file under a name that a
label can hold, and records the truth in a manifest that travels beside the files:

    catalog.py --artifacts DIR --repository CANONICAL_NAME --output DIR

writes into the output directory `BUILD.bazel`, `artifacts.bzl`, `manifests/*.json`,
`files/…`, and for the rule to watch, `files_read.txt` and `directories.txt`.
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
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

#: Files of at least this many bytes get inspect and pack actions of their own.
BIG_FILE_BYTES = 32 << 20
#: A file gets another core for each so many bytes, which one deflates in about a second.
BYTES_PER_CORE = 128 << 20
CORES_MAX = 8
COMPONENTS = ("lib", "run", "dev", "dbg", "doc", "test")
ARCHIVES = (".tar.zst", ".tar.xz", ".tar.gz")
MANIFEST_NAME = "artifact_manifest.txt"
#: Names that would make a directory a Bazel package or stop Bazel's globbing.
RESERVED_NAMES = frozenset({"BUILD", "BUILD.bazel", "WORKSPACE", "WORKSPACE.bazel", "MODULE.bazel", "REPO.bazel"})


T = TypeVar("T")


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
    #: Label of each big file -> how many cores packing it can use.
    big: dict[str, int] = field(default_factory=dict)
    directories: list[Path] = field(default_factory=list)

    @property
    def label_name(self) -> str:
        """The folder's name, as a target may have it."""
        return escape(self.folder.name)

    def unit_manifest(self, label: str | None) -> str:
        """Return the path of the manifest of a big file, given by its label, or of all small ones."""
        prefix = f"files/{self.label_name}/"
        unit = f"big/{label.removeprefix(prefix)}" if label else "small"
        return f"manifests/{self.label_name}/{unit}.json"


def cores(size: int) -> int:
    """Return how many cores packing a file of `size` bytes can use: 1, 2, 4 or 8, of which machines have multiples."""
    wanted = min(max(1, size // BYTES_PER_CORE), CORES_MAX)
    return 1 << (wanted.bit_length() - 1)


def escape(path: str) -> str:
    r"""Return a path that a Bazel label can hold and from which `path` can be read.

    `%`, `=`, `:`, `\` and control characters become `%XX`; a reserved name gets a final `%`.
    """
    escaped = re.sub(r"[%=:\\\x00-\x1f\x7f]", lambda match: f"%{ord(match.group()):02X}", path)
    return "/".join(part + "%" if part in RESERVED_NAMES else part for part in escaped.split("/"))


def parse_name(folder: Path) -> Artifact:
    """Split `{name}_{component}_{target}`; raises CatalogError if that is not the form."""
    check_name(folder.name, folder.parent)
    name, component, target = (*folder.name.split("_"), "", "")[:3]
    if folder.name.count("_") != 2 or component not in COMPONENTS or not name or not target:
        raise CatalogError(
            f"{folder}: expected a folder named {{name}}_{{component}}_{{target}} with a component of "
            f"{', '.join(COMPONENTS)}; rename it, or move it out of the artifacts directory"
        )
    return Artifact(folder, name, component, target)


def base_directories(folder: Path) -> list[str]:
    """Read `artifact_manifest.txt`: the base directories, relative to the artifact's folder."""
    manifest = folder / MANIFEST_NAME
    if not manifest.is_file():
        raise CatalogError(
            f"{folder}: no {MANIFEST_NAME} in it; each artifact lists its base directories there, one a line. "
            "Fetch the artifact anew, or move the folder out of the artifacts directory"
        )
    bases = {line.strip() for line in read_text(manifest).splitlines() if line.strip()}
    for base in sorted(bases):
        check_base(base, folder)
    return sorted({posixpath.normpath(base) for base in bases})


def check_base(base: str, folder: Path) -> None:
    """Refuse a base directory that is not there or not below the artifact's folder; raises CatalogError."""
    manifest = folder / MANIFEST_NAME
    if base.startswith("/") or ".." in base.split("/"):
        raise CatalogError(f"{manifest}: {base!r} leads outside the artifact; expected a relative path without '..'")
    if posixpath.normpath(base) == ".":
        raise CatalogError(f"{manifest}: {base!r} is the artifact's folder itself; expected a directory in it")
    if not (folder / base).is_dir():
        raise CatalogError(f"{manifest}: names {base!r}, but there is no such directory in {folder}; fetch it anew")
    if not (folder / base).resolve().is_relative_to(folder.resolve()):
        raise CatalogError(
            f"{manifest}: {base!r} is or goes through a link that leads outside the artifact; expected a directory in "
            f"{folder}. Put the directory itself there"
        )
    check_name(base, manifest)


def check_name(path: str, where: Path) -> None:
    """Refuse names that no manifest line, params file or wheel can hold; raises CatalogError."""
    if any(unicodedata.category(character) in ("Cc", "Zl", "Zp") for character in path):
        raise CatalogError(f"{where}: the name {path!r} holds a control character; rename it")
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise CatalogError(f"{where}: the name {path!r} is not UTF-8; rename it") from None


def check_link(path: str, target: str, where: Path) -> None:
    """Refuse a link that leads out of the install prefix in which all artifacts are merged; raises CatalogError."""
    check_name(target, where / path)
    resolved = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    if target.startswith("/") or resolved == ".." or resolved.startswith("../"):
        raise CatalogError(
            f"{where}: the link {path} -> {target} leads outside the artifact tree; expected a relative link that "
            "stays inside. Make it relative, or leave it out of the artifact"
        )


def walk(artifact: Artifact, directory: Path) -> Iterator[os.DirEntry[str]]:
    """Yield every entry below a directory, depth first and sorted; links are not followed."""
    artifact.directories.append(directory)
    with os.scandir(directory) as listing:
        children = sorted(listing, key=lambda entry: entry.name)
    for child in children:
        yield child
        if child.is_dir(follow_symlinks=False):
            yield from walk(artifact, Path(child.path))


def scan(artifact: Artifact, repository: str) -> None:
    """Fill in the entries of an artifact, with the names its files have in the repository."""
    folder = artifact.folder.name
    for base in base_directories(artifact.folder):
        root = artifact.folder / base
        for found in walk(artifact, root):
            path = os.path.relpath(found.path, root)
            check_name(path, root)
            entry = {"base": base, "path": path}
            status = found.stat(follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                target = os.readlink(found.path)  # noqa: PTH115 - Path would not keep the text as it is
                check_link(path, target, root)
                entry |= {"kind": "link", "target": target}
            elif stat.S_ISDIR(status.st_mode):
                entry |= {"kind": "directory", "mode": f"{stat.S_IMODE(status.st_mode):04o}"}
            elif stat.S_ISREG(status.st_mode):
                label = escape(f"files/{folder}/{base}/{path}")
                entry |= {
                    "kind": "file",
                    "mode": f"{stat.S_IMODE(status.st_mode):04o}",
                    "file": f"../{repository}/{label}",
                }
                if status.st_size >= BIG_FILE_BYTES:
                    artifact.big[label] = cores(status.st_size)
                else:
                    artifact.small.append(label)
            else:
                raise CatalogError(f"{found.path}: neither a file, a directory nor a link; remove it from the artifact")
            artifact.entries.append(entry)


def read_text(path: Path) -> str:
    """Read a small file; raises CatalogError if it is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CatalogError(f"{path}: expected a text in UTF-8 ({error}); fetch the artifact anew") from None


def read_about(artifacts: list[Artifact], name: str, key: str, default: T) -> T:
    """Read a key of the JSON object `share/therock/{name}`; the default if no artifact has it.

    Raises CatalogError if it is no such object, or the value is not of the default's type.
    """
    for artifact in artifacts:
        for entry in artifact.entries:
            if entry["path"] == f"share/therock/{name}" and entry["kind"] == "file":
                path = artifact.folder / entry["base"] / entry["path"]
                try:
                    value = json.loads(read_text(path)).get(key, default)
                except (ValueError, AttributeError) as error:
                    raise CatalogError(f"{path}: expected a JSON object ({error}); fetch the artifact anew") from None
                if not isinstance(value, type(default)):
                    raise CatalogError(f"{path}: {key} is {value!r}; expected a value like {default!r}")
                return value
    return default


def is_split(artifacts: list[Artifact]) -> bool:
    """Read `flags.KPACK_SPLIT_ARTIFACTS` of the therock_manifest.json; absent means false."""
    flags: dict[str, object] = {}
    return bool(read_about(artifacts, "therock_manifest.json", "flags", flags).get("KPACK_SPLIT_ARTIFACTS", False))


def dist_targets(artifacts: list[Artifact]) -> list[str]:
    """Read `dist_amdgpu_targets` of dist_info.json, in the order written; none if there is no such file."""
    targets = read_about(artifacts, "dist_info.json", "dist_amdgpu_targets", "")
    return [target for target in targets.split(";") if target]


def literal(value: str | Sequence[str] | Sequence[int]) -> str:
    """Return the text of a string or a list of strings in Starlark, which does not know JSON's escapes by number."""
    return json.dumps(value, ensure_ascii=False)


def build_file(artifacts: list[Artifact]) -> str:
    """Return the text of BUILD.bazel: one `catalogued_artifact` per artifact."""
    lines = [
        'load("@rules_rocm_python//rules:catalog.bzl", "catalogued_artifact")\n',
        'package(default_visibility = ["//visibility:public"])\n',
    ]
    for artifact in artifacts:
        attributes: dict[str, str | list[str] | list[int]] = {
            "name": artifact.label_name,
            "artifact_name": artifact.name,
            "big_cores": list(artifact.big.values()),
            "big_manifests": [artifact.unit_manifest(label) for label in artifact.big],
            "big_srcs": list(artifact.big),
            "component": artifact.component,
            "manifest": f"manifests/{artifact.label_name}.json",
            "small_manifest": artifact.unit_manifest(None),
            "srcs": artifact.small,
            "target": artifact.target,
        }
        body = "".join(f"    {key} = {literal(value)},\n" for key, value in attributes.items())
        lines.append(f"catalogued_artifact(\n{body})\n")
    return "\n".join(lines)


def loadable_file(artifacts: list[Artifact]) -> str:
    """Return the text of artifacts.bzl: what `packaging/` needs to know when it is loaded."""
    rows = "".join(
        f"    struct(name = {literal(artifact.name)}, component = {literal(artifact.component)}, "
        f"target = {literal(artifact.target)}, label = str(Label({literal('//:' + artifact.label_name)}))),\n"
        for artifact in artifacts
    )
    return (
        '"""The artifacts found in ROCM_ARTIFACTS_DIR."""\n\n'
        f"SPLIT = {is_split(artifacts)}\n\n"
        f"DIST_TARGETS = {literal(dist_targets(artifacts))}\n\n"
        f"ARTIFACTS = [\n{rows}]\n"
    )


def manifests(artifact: Artifact) -> dict[str, str]:
    """Return the texts of an artifact's manifests: the whole, for plans, and one per unit, for inspect and pack.

    Those of units have no modes and no links, and a big file's has nothing but the file: so an action runs again only
    for what it reads.
    """

    def text(entries: list[dict[str, str]]) -> str:
        document = {"artifact": artifact.folder.name, "entries": entries}
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"

    files = {
        entry["file"].split("/", 2)[2]: {key: entry[key] for key in ("base", "path", "kind", "file")}
        for entry in artifact.entries
        if entry["kind"] == "file"
    }
    texts = {artifact.unit_manifest(label): text([files[label]]) for label in artifact.big}
    texts[artifact.unit_manifest(None)] = text([files[label] for label in artifact.small])
    return texts | {f"manifests/{artifact.label_name}.json": text(artifact.entries)}


def files_read(artifacts: list[Artifact]) -> list[Path]:
    """List the files whose contents decide what the repository holds: the rule watches them."""
    about = {f"share/therock/{name}" for name in ("therock_manifest.json", "dist_info.json")}
    files = [artifact.folder / MANIFEST_NAME for artifact in artifacts]
    return files + [a.folder / e["base"] / e["path"] for a in artifacts for e in a.entries if e["path"] in about]


def write_repository(artifacts: list[Artifact], output: Path) -> None:
    """Write the links, the manifests and the Bazel files."""
    texts = {"BUILD.bazel": build_file(artifacts), "artifacts.bzl": loadable_file(artifacts)}
    texts["files_read.txt"] = "".join(f"{path}\n" for path in files_read(artifacts))
    texts["directories.txt"] = "".join(f"{path}\n" for artifact in artifacts for path in artifact.directories)
    for artifact in artifacts:
        for entry in artifact.entries:
            if entry["kind"] == "file":
                link = output / entry["file"].split("/", 2)[2]
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(artifact.folder / entry["base"] / entry["path"])
        texts |= manifests(artifact)
    for name, text in texts.items():
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        (output / name).write_text(text, encoding="utf-8")


def find_artifacts(directory: Path) -> list[Artifact]:
    """List the artifact folders of a directory, sorted by name."""
    try:
        found = sorted(path for path in directory.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise CatalogError(
            f"ROCM_ARTIFACTS_DIR={directory}: cannot be read ({error.strerror}); expected a directory of artifact "
            "folders. Set --repo_env=ROCM_ARTIFACTS_DIR=/absolute/path, or unset it to build the example SDK"
        ) from None
    if archives := [path.name for path in found if path.name.endswith(ARCHIVES)]:
        raise CatalogError(
            f"{directory / archives[0]}: an archive; expected folders. Unpack it beside the others, or move it away"
        )
    folders = [path for path in found if path.is_dir()]
    if not folders:
        raise CatalogError(
            f"ROCM_ARTIFACTS_DIR={directory}: holds no artifact folders ({{name}}_{{component}}_{{target}})"
        )
    return [parse_name(folder) for folder in folders]


def main(argv: list[str]) -> int:
    """Run the scan; return 1, with one line on standard error when the input cannot be used."""
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
