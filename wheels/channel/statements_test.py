"""Statements are signed when a build is added, listed as PEP 740 says, and kept with the file."""

import hashlib
import json
from pathlib import Path

import pytest

from develop.testing.channel_sample import build
from develop.testing.signing import make_key
from lib.common.program import write_document
from lib.provenance.statement import Statement
from wheels.channel.tool import main
from wheels.common.attestation import verified_statement
from wheels.common.keys import load_public_key


def state(dist: Path, folder: Path) -> None:
    """Write a statement of each wheel of a build."""
    folder.mkdir(exist_ok=True)
    for path in dist.rglob("*.whl"):
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        statement = Statement(path.name, sha256, "//:one", "//:provenance", {}, {}, ())
        write_document(str(folder / f"{path.name}.provenance.json"), statement.document())


@pytest.fixture(name="dist")
def _dist(tmp_path: Path) -> Path:
    assert main(["init", f"--channel={tmp_path / 'channel'}", "--stream=nightly", "--stream=stable"]) == 0
    dist = build(tmp_path, "1.0")
    state(dist, tmp_path / "provenance")
    return dist


def add(folder: Path, *more: object, stream: str = "nightly") -> int:
    return main(["add", f"--channel={folder / 'channel'}", f"--stream={stream}", *map(str, more)])


def signing(folder: Path, name: str = "key") -> list[str]:
    key, command = make_key(folder, name)
    return [f"--key={key}", f"--sign-command={command}"]


def listed(folder: Path, stream: str = "nightly") -> dict[str, Path]:
    """Return where each wheel's provenance is, by the wheel's name."""
    found = {}
    for page in (folder / f"channel/{stream}/simple").resolve().glob("*/index.json"):
        for one in json.loads(page.read_text())["files"]:
            if "provenance" in one:
                assert f'data-provenance="{one["provenance"]}"' in page.with_suffix(".html").read_text()
                name = folder / f"channel/{stream}/simple" / page.parent.name
                found[one["filename"]] = Path(str(name)) / one["provenance"]
    return found


def test_statements_are_signed_and_listed(tmp_path: Path, dist: Path) -> None:
    assert add(tmp_path, *signing(tmp_path), dist, tmp_path / "provenance") == 0
    found = listed(tmp_path)
    assert found.keys() == {path.name for path in dist.rglob("*.whl")}
    key = load_public_key(tmp_path / "key.pub")
    for name, path in found.items():
        digest = path.parent.name
        statement = verified_statement(path.read_bytes(), key, name)
        assert (path.name, statement.filename, statement.sha256) == (f"{name}.provenance", name, digest)
    assert main(["check", f"--channel={tmp_path / 'channel'}"]) == 0


def test_a_listed_statement_never_changes(tmp_path: Path, dist: Path) -> None:
    assert add(tmp_path, *signing(tmp_path), dist, tmp_path / "provenance") == 0
    before = {path.name: path.read_bytes() for path in listed(tmp_path).values()}
    assert add(tmp_path, *signing(tmp_path, "another"), dist, tmp_path / "provenance", stream="stable") == 0
    assert add(tmp_path, dist, stream="stable") == 0
    assert {path.name: path.read_bytes() for path in listed(tmp_path, "stable").values()} == before
    assert main(["check", f"--channel={tmp_path / 'channel'}"]) == 0


def test_an_unsigned_statement_is_refused(tmp_path: Path, dist: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert add(tmp_path, dist, tmp_path / "provenance") == 2
    assert "is not signed. Name a key with --key, or leave the statements out" in capsys.readouterr().err
    assert add(tmp_path, dist) == 0
    assert listed(tmp_path) == {}


def test_a_statement_of_other_bytes_is_refused(tmp_path: Path, dist: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = next(dist.rglob("*.whl"))
    statement = Statement(path.name, "a" * 64, "//:one", "//:provenance", {}, {}, ())
    write_document(f"{path}.provenance.json", statement.document())
    assert add(tmp_path, *signing(tmp_path), path) != 0
    assert f"is of the sha256 {'a' * 64}; {path} has " in capsys.readouterr().err


def test_a_command_needs_its_key(tmp_path: Path, dist: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert add(tmp_path, "--sign-command=sign", dist) == 2
    assert "--sign-command: expected --key, too" in capsys.readouterr().err


def test_a_promotion_signs_what_was_built_again(tmp_path: Path) -> None:
    channel = f"--channel={tmp_path / 'channel'}"
    assert main(["init", channel, "--stream=rc", "--stream=stable"]) == 0
    assert add(tmp_path, build(tmp_path / "rc", "1.0rc1"), stream="rc") == 0
    release = build(tmp_path / "release", "1.0")
    state(release, tmp_path / "provenance")
    given = [*signing(tmp_path), str(release), str(tmp_path / "provenance")]
    assert main(["promote", channel, "1.0rc1", "--from=rc", "--to=stable", *given]) == 0
    assert listed(tmp_path, "stable").keys() == {path.name for path in release.rglob("*.whl")}
