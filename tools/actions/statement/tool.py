"""Writes the statement of a distribution: which file it is, what it was built from, and with which settings."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from lib.common.arguments import run_program
from lib.common.digest import file_sha256, read_digest
from lib.common.documents import from_document
from lib.common.program import read_document, write_document
from lib.provenance.statement import COMMIT, FILE, Material, Statement, unique_materials


@dataclass(frozen=True)
class Arguments:
    """What the rule says; a `str` is the path of a file, unless its comment says otherwise."""

    label: str  #: Of the `sdk_provenance`.
    distribution: str  #: Label of the distribution.
    digest: str  #: Name, size and SHA-256 of the distribution.
    material: list[str]  #: Artifacts and other materials that are digested already.
    file: list[str]  #: FILE=PATH: further files, by their paths in the build.
    setting: dict[str, str]  #: Build settings.
    environment: dict[str, str]  #: Variables of repositories.
    artifacts_variable: str  #: The variable that names the directory of artifacts, or empty.
    commit: str  #: The commit of the workspace, empty if it is not known.
    output: Path


def state(args: Arguments) -> None:
    """Write the statement."""
    files = dict(one.split("=", 1) for one in args.file)
    materials = [from_document(Material, read_document(path)) for path in args.material]
    materials += [Material(name, {FILE: file_sha256(Path(path))}) for name, path in files.items()]
    # An interpreter of the machine is no input; its version says what of it is known.
    materials.append(Material("python", uri="pkg:generic/python@" + ".".join(map(str, sys.version_info[:3]))))
    if args.commit:
        materials.append(Material("commit", {COMMIT: args.commit}))
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    digest = read_digest(args.digest)
    statement = Statement(
        filename=digest.filename,
        sha256=digest.sha256,
        distribution=args.distribution,
        provenance=args.label,
        settings=args.setting,
        environment=args.environment | ({"SOURCE_DATE_EPOCH": epoch} if epoch else {}),
        materials=unique_materials(materials),
        artifacts_variable=args.artifacts_variable,
    )
    write_document(str(args.output), statement.document())


def main(argv: list[str]) -> int:
    """Write the statement."""
    return run_program(Arguments, argv, state)
