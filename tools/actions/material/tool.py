"""Digests an artifact, or the interpreter's files, as one material of statements.

Each artifact is read by one action, which runs only if somebody asks for a statement.
"""

from dataclasses import dataclass
from pathlib import Path

from lib.common.arguments import run_program
from lib.common.manifest import located_sources, read_manifest
from lib.provenance.statement import FILE, TREE, Material
from lib.provenance.tree import files_digest, tree_digest


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
    Material(args.name, digests).write(str(args.output))


def main(argv: list[str]) -> int:
    """Digest the files."""
    return run_program(Arguments, argv, describe)
