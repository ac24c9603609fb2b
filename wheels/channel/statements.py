"""Signs the statements that lie beside distributions, so that indexes can list them (PEP 740).

An unsigned statement is refused: everybody can write one, and what an index lists looks like proof.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from securesystemslib.signer import Signer

from lib.common.command import CannotRunError
from lib.common.program import ToolError
from lib.provenance.statement import SUFFIX, parse_statement
from wheels.channel.local_files import LocalFile
from wheels.trust.attestation import provenance_object


def _statements(given: Sequence[Path]) -> Iterator[Path]:
    """Yield the statements below directories, and beside distributions."""
    for root in given:
        beside = root.with_name(root.name + SUFFIX)
        if not root.is_dir():
            yield from [beside] if beside.is_file() else []
        for folder, _, names in os.walk(root):
            yield from (Path(folder, name) for name in names if name.endswith(SUFFIX))


def signed(files: Sequence[LocalFile], given: Sequence[Path], signer: Signer | None) -> list[LocalFile]:
    """Return the files with the provenance that their statements give; those without one as they are.

    Raises CannotRunError if nobody signs, and ToolError for a statement of other bytes.
    """
    paths = {path.name.removesuffix(SUFFIX): path for path in _statements(given)}
    found = []
    for one in files:
        path = paths.get(one.file.filename)
        if path is None:
            found.append(one)
            continue
        if signer is None:
            raise CannotRunError(f"{path}: is not signed. Name a key with --key, or leave the statements out")
        text = path.read_bytes()
        if (stated := parse_statement(text, str(path))).sha256 != one.file.sha256:
            raise ToolError(
                f"{path}: is of the sha256 {stated.sha256}; {one.source} has {one.file.sha256}. Build both together"
            )
        content = provenance_object(text, signer)
        file = replace(one.file, provenance_sha256=hashlib.sha256(content).hexdigest())
        found.append(replace(one, file=file, provenance=content))
    return found
