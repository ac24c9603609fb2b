"""`rocm-wheels rebuild` with a script for Bazel: the command that it runs, and what it says of each result."""

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from develop.testing.signing import make_key
from develop.testing.wheel_sample import Sample
from lib.common.program import write_document
from lib.provenance.statement import Material, Statement
from wheels.common.attestation import provenance_object
from wheels.common.keys import signer
from wheels.rebuild.tool import main

ACME = Sample({"acme/__init__.py": b"x = 1\n", "acme/lib/liba.so": b"ELF"}, name="acme")
OTHER = replace(ACME, files={**ACME.files, "acme/lib/liba.so": b"ELF2"})
#: Stands for Bazel: says that it has built what lies in the workspace, and writes down how it was called.
BAZEL = """#!/usr/bin/env python3
import json, os, pathlib, sys
here = pathlib.Path(__file__).parent
(here / "call.json").write_text(json.dumps([sys.argv[1:], os.environ.get("SOURCE_DATE_EPOCH")]))
events = next(one.partition("=")[2] for one in sys.argv if one.startswith("--build_event_json_file="))
files = [{"uri": one.as_uri()} for one in sorted((here / "out").iterdir())]
pathlib.Path(events).write_text(json.dumps({"namedSetOfFiles": {"files": files}}) + "\\n{}\\n")
sys.exit(int(os.environ.get("FAILS", "0")))
"""


@dataclass(frozen=True)
class Release:
    """A published wheel with its statement, a key, and a workspace that builds it again."""

    folder: Path
    statement: Statement

    @property
    def wheel(self) -> Path:
        """The published wheel."""
        return self.folder / ACME.filename

    def publish(self, statement: Statement) -> None:
        """Sign a statement, and list it beside the wheel."""
        signed = provenance_object(json.dumps(statement.document()).encode(), signer(*make_key(self.folder)))
        self.wheel.with_name(self.wheel.name + ".provenance").write_bytes(signed)

    def builds(self, sample: Sample, statement: Statement) -> None:
        """Let the workspace build a wheel."""
        (self.folder / "clone/out").mkdir(parents=True, exist_ok=True)
        (self.folder / "clone/out" / ACME.filename).write_bytes(sample.build())
        write_document(str(self.folder / f"clone/out/{ACME.filename}.provenance.json"), statement.document())

    def rebuild(self, *more: str) -> int:
        """Run the command; return its exit code."""
        key = make_key(self.folder)[0]
        return main([str(self.wheel), f"--trust={key}", f"--workspace={self.folder / 'clone'}", *more])


@pytest.fixture
def release(tmp_path: Path) -> Release:
    content = ACME.build()
    materials = (
        Material("artifact core_lib_generic", {"artifactManifest": "1" * 64}),
        Material("tools/link.pyz", {"sha256": "2" * 64}),
    )
    digest = hashlib.sha256(content).hexdigest()
    settings = {"//my:version": "1.0", "//my:platform_tag": "linux_x86_64"}
    variables = {"SDK_TARGETS": "gfx942"}
    labels = "//my:acme_wheel", "//my:provenance"
    statement = Statement(ACME.filename, digest, *labels, settings, variables, materials, "SDK_DIR")
    made = Release(tmp_path, statement)
    made.wheel.write_bytes(content)
    made.publish(statement)
    made.builds(ACME, statement)
    (tmp_path / "clone/bazelw").write_text(BAZEL)
    (tmp_path / "clone/bazelw").chmod(0o755)
    return made


def test_the_same_bytes(release: Release, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "5")
    assert release.rebuild(f"--artifacts={release.folder}", "--", "--jobs=1") == 0
    sha256 = release.statement.sha256
    assert (
        capsys.readouterr().out
        == f"{ACME.filename}: the same bytes, sha256 {sha256}, of 2 materials\n1 of 1 have the same bytes\n"
    )
    call, epoch = json.loads((release.folder / "clone/call.json").read_text())
    assert epoch is None, "the time of the machine that rebuilds has reached the build"
    assert call[0] == "build"
    assert call[2:] == [
        f"--output_groups={ACME.filename}",
        f"--repo_env=SDK_DIR={release.folder}",
        "--repo_env=SDK_TARGETS=gfx942",
        "--//my:platform_tag=linux_x86_64",
        "--//my:version=1.0",
        "--jobs=1",
        "//my:provenance",
    ]


def test_one_input_is_another(release: Release, capsys: pytest.CaptureFixture[str]) -> None:
    artifact = Material("artifact core_lib_generic", {"artifactManifest": "3" * 64})
    release.builds(OTHER, replace(release.statement, materials=(artifact, release.statement.materials[1])))
    assert release.rebuild() == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{ACME.filename}: other bytes; these members differ:"
    digests = [hashlib.sha256(one).hexdigest() for one in (b"ELF", b"ELF2")]
    assert lines[1] == f"  acme/lib/liba.so: expected sha256 {digests[0]}, built {digests[1]}"
    assert lines[2].startswith("  acme-1.0.dist-info/RECORD: ")
    assert lines[3:] == [
        "These inputs differ:",
        f"  artifact core_lib_generic: expected artifactManifest {'1' * 64}, found artifactManifest {'3' * 64}",
        "The workspace's own artifacts were used: name the directory of the release's with --artifacts",
        "0 of 1 have the same bytes",
    ]


def test_an_input_that_changes_nothing(release: Release, capsys: pytest.CaptureFixture[str]) -> None:
    more = Material("tools/more.pyz", {"sha256": "4" * 64})
    release.builds(ACME, replace(release.statement, materials=(release.statement.materials[0], more)))
    assert release.rebuild() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == [
        "These inputs differ, but in nothing that this distribution contains:",
        f"  tools/link.pyz: expected sha256 {'2' * 64}, found nothing",
        "  tools/more.pyz: was no input",
        "1 of 1 have the same bytes",
    ]


def test_equal_inputs_with_other_bytes(release: Release, capsys: pytest.CaptureFixture[str]) -> None:
    release.builds(OTHER, release.statement)
    assert release.rebuild() == 1
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "All inputs are equal, so the build depends on something else. Report it, with both files",
        "0 of 1 have the same bytes",
    ]


def test_settings_and_modes(release: Release, capsys: pytest.CaptureFixture[str]) -> None:
    settings = {**release.statement.settings, "//my:version": "2.0"}
    release.builds(replace(ACME, modes={"acme/lib/liba.so": 0o100755}), replace(release.statement, settings=settings))
    assert release.rebuild() == 1
    out = capsys.readouterr().out
    assert "  acme/lib/liba.so: same content, but another mode, date or compression\n" in out
    assert "  setting //my:version: expected '1.0', found '2.0'\n" in out


def _other_wheel(release: Release) -> None:
    release.wheel.write_bytes(OTHER.build())


def _no_statement(release: Release) -> None:
    release.wheel.with_name(release.wheel.name + ".provenance").unlink()


@pytest.mark.parametrize(
    ("plant", "status", "said"),
    [
        (_other_wheel, 1, "Somebody has changed or mixed them: fetch both again"),
        (_no_statement, 2, "acme-1.0-py3-none-linux_x86_64.whl.provenance: no such file; expected a file"),
    ],
)
def test_what_is_refused_before_anything_is_built(
    release: Release, capsys: pytest.CaptureFixture[str], plant: Callable[[Release], None], status: int, said: str
) -> None:
    plant(release)
    assert release.rebuild() == status
    assert said in capsys.readouterr().err
    assert not (release.folder / "clone/call.json").exists()


@pytest.mark.parametrize(
    ("head", "changes", "said"),
    [
        ("c" * 40, "", ""),
        ("c" * 40, " M lib/a.py", "clone: has changes that are not committed; put them away: git -C "),
        ("d" * 40, "", f"clone: is at the commit {'d' * 40}; expected {'c' * 40}: git -C "),
        ("", "", ""),  # No clone of git: an archive of the sources, say.
    ],
)
def test_what_the_clone_is(
    release: Release,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    head: str,
    changes: str,
    said: str,
) -> None:
    git = release.folder / "git"
    git.write_text(f"#!/bin/sh\ncase $3 in rev-parse) echo '{head}';; status) echo '{changes}';; esac\n")
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{release.folder}:{os.environ['PATH']}")
    of_commit = replace(release.statement, materials=(Material("commit", {"gitCommit": "c" * 40}),))
    release.publish(of_commit)
    release.builds(ACME, of_commit)
    assert release.rebuild() == 0
    notes = [line for line in capsys.readouterr().err.splitlines() if line.startswith("NOTE: ")]
    assert len(notes) == bool(said)
    assert all(said in line for line in notes)


def test_another_key_is_refused(release: Release, capsys: pytest.CaptureFixture[str]) -> None:
    key = make_key(release.folder, "another")[0]
    assert main([str(release.wheel), f"--trust={key}", f"--workspace={release.folder / 'clone'}"]) == 1
    assert "is signed by the key " in capsys.readouterr().err


def test_bazel_fails(release: Release, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAILS", "3")
    assert release.rebuild() == 2
    assert "clone: Bazel ended with 3: see its errors above" in capsys.readouterr().err


def test_the_workspace_writes_something_else(release: Release, capsys: pytest.CaptureFixture[str]) -> None:
    (release.folder / "clone/out" / ACME.filename).unlink()
    assert release.rebuild() == 2
    assert f"//my:provenance does not write {ACME.filename}. Check out the commit" in capsys.readouterr().err
