"""A statement has what its rule says, and the digests of files."""

import hashlib
import json
import sys
from pathlib import Path

import pytest

from lib.common.digest import Digest
from lib.common.program import write_document
from lib.provenance.statement import parse_statement
from tools.actions.statement.tool import main

NAME = "acme-1.0-py3-none-any.whl"


def stated(folder: Path, *more: str) -> bytes:
    """Return the statement that the tool writes."""
    Digest(NAME, 3, "a" * 64).write(str(folder / "digest.json"))
    material = {"name": "artifact core_lib_generic", "digest": {"artifactManifest": "1" * 64}}
    write_document(str(folder / "core.json"), material)
    (folder / "README.md").write_bytes(b"read me")
    argv = ["--label=//my:provenance", "--distribution=//my:acme", f"--digest={folder / 'digest.json'}"]
    argv += [f"--material={folder / 'core.json'}", f"--file=my/README.md={folder / 'README.md'}"]
    argv += [
        "--setting=//my:version=1.0",
        "--environment=ROCM_TARGETS=",
        "--artifacts-variable=",
        f"--output={folder / 'output.json'}",
        *more,
    ]
    assert main(argv) == 0
    return (folder / "output.json").read_bytes()


def test_a_statement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    found = parse_statement(stated(tmp_path, f"--commit={'c' * 40}"), "there")
    assert (found.filename, found.sha256) == (NAME, "a" * 64)
    assert (found.distribution, found.provenance) == ("//my:acme", "//my:provenance")
    assert found.settings == {"//my:version": "1.0"}
    assert found.environment == {"ROCM_TARGETS": "", "SOURCE_DATE_EPOCH": "1700000000"}
    digests = {one.name: dict(one.digest) for one in found.materials}
    assert digests == {
        "artifact core_lib_generic": {"artifactManifest": "1" * 64},
        "commit": {"gitCommit": "c" * 40},
        "my/README.md": {"sha256": hashlib.sha256(b"read me").hexdigest()},
        "python": {},
    }
    version = ".".join(map(str, sys.version_info[:3]))
    assert next(one.uri for one in found.materials if one.name == "python") == f"pkg:generic/python@{version}"


def test_no_place_and_no_unknown_commit_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    found = stated(tmp_path, "--commit=")
    (tmp_path / "other").mkdir()
    assert found == stated(tmp_path / "other", "--commit=")
    materials = json.loads(found)["predicate"]["buildDefinition"]["resolvedDependencies"]
    assert "commit" not in [one["name"] for one in materials]
