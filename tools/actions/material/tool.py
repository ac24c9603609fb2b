"""Digests an artifact, or the interpreter's files, as one material of statements.

Each artifact is read by one action, which runs only if somebody asks for a statement.

The digest of an artifact's folder is SHA-256 over its sorted entries, with everything of them that reaches packages. An
entry is a line, a JSON list: `["file", PATH, MODE, SHA-256]`, `["link", PATH, TARGET]` or `["directory", PATH]`. PATH
begins with the base directory. MODE is `0755` or `0644`, or null if the file's content decides. Owners and times are
left out.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lib.common.arguments import run_program
from lib.common.digest import file_sha256
from lib.common.documents import to_document
from lib.common.manifest import Manifest, located_sources, read_manifest
from lib.common.program import write_document
from lib.provenance.statement import FILE, TREE, Material


def tree_digest(manifest: Manifest, located: Mapping[str, str]) -> str:
    """Return the digest in hex. `located` says where the files are, by their sources in the manifest."""
    lines = []
    for one in manifest.entries:
        path = f"{one.base}/{one.path}"
        if one.kind == "link":
            lines.append(["link", path, one.target])
        elif one.kind == "directory":
            lines.append(["directory", path])
        else:
            digest = file_sha256(Path(located[f"{manifest.artifact}/{path}"]))
            lines.append(["file", path, one.mode, digest])
    return _digest(lines)


def files_digest(files: Mapping[str, str]) -> str:
    """Return the digest in hex of files without modes and links: path -> where the file is."""
    return _digest([["file", path, None, file_sha256(Path(file))] for path, file in files.items()])


def _digest(lines: list[list[str | None]]) -> str:
    digest = hashlib.sha256()
    for line in sorted(json.dumps(one, ensure_ascii=True) for one in lines):
        digest.update(f"{line}\n".encode())
    return digest.hexdigest()


@dataclass(frozen=True)
class Arguments:
    """What the rule says; a `str` is the path of a file, unless its comment says otherwise."""

    label: str
    name: str  #: Of the material.
    manifest: str | None  #: Of an artifact.
    archive_sha256: str | None  #: SHA-256 of the archive that the artifact came as.
    file: list[str]  #: FILE=PATH: files by their names in the manifest; without one, by their paths.
    output: Path


def describe(args: Arguments) -> None:
    """Write the material."""
    if args.manifest:
        manifest = read_manifest(args.manifest)
        tree = tree_digest(manifest, located_sources(args.manifest, manifest.artifact, args.file))
    else:
        tree = files_digest(dict(one.split("=", 1) for one in args.file))
    digests = {TREE: tree} | ({FILE: args.archive_sha256} if args.archive_sha256 else {})
    write_document(str(args.output), to_document(Material, Material(args.name, digests)))


def main(argv: list[str]) -> int:
    """Digest the files."""
    return run_program(Arguments, argv, describe)
