"""Aggregates list what other streams list, and follow them."""

import json
from pathlib import Path

import pytest

from develop.testing.channel_sample import build, wheel, write
from lib.common.command import FOUND, OK
from wheels.channel.tool import main


def run(place: Path, command: str, *arguments: object) -> int:
    """Run a command on a channel."""
    return main([command, f"--channel={place}", *map(str, arguments)])


def pages(place: Path, stream: str) -> dict[str, str]:
    """Return the page of each project of a stream."""
    found = sorted((place / stream / "simple").glob("*/index.html"))
    return {path.parent.name: path.read_text() for path in found}


def test_an_aggregate_of_this_channel_and_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    assert run(ours, "init", "--stream=nightly", "--aggregate=all=../nightly/,../../theirs/stable/") == OK
    assert run(theirs, "init", "--stream=stable", "--grace=0s", "--settle=0s") == OK
    assert run(ours, "add", "--stream=nightly", build(tmp_path, "1.0")) == OK
    for version in ("2.0", "2.1"):
        assert run(theirs, "add", "--stream=stable", write(tmp_path / version, [wheel("torch", version)])) == OK
    assert run(ours, "add", "--stream=all") == OK
    assert list(pages(ours, "all")) == ["acme", "acme-core", "acme-libraries", "torch"]
    page = pages(ours, "all")["torch"]
    for link in (part.partition("#")[0] for part in page.split('href="')[1:]):
        assert (ours / "all/simple/torch" / link).resolve().is_file(), link
    assert len(list((ours / "files").rglob("*.whl"))) == 3, "files were copied"
    assert run(theirs, "retire", "--stream=stable", "--older-than=0s") == OK
    assert run(theirs, "add", "--stream=stable", write(tmp_path / "2.2", [wheel("torch", "2.2")])) == OK
    capsys.readouterr()
    assert run(ours, "add", "--stream=all", "--json") == OK
    document = json.loads(capsys.readouterr().out)
    assert document["streams"] == {"all": "grow, shrink"}
    assert [name.partition("-py3")[0] for name in document["files"]] == ["torch-2.2", "torch-2.0"]
    assert "torch-2.0" not in pages(ours, "all")["torch"]
    assert run(ours, "check") == OK
    capsys.readouterr()
    assert run(theirs, "add", "--stream=stable", write(tmp_path / "taken", [wheel("acme", "9.0")])) == OK
    assert run(ours, "add", "--stream=all") == FOUND
    assert "both ../nightly and ../../theirs/stable have acme" in capsys.readouterr().err


def test_the_first_init_is_shown_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path / "new", "init", "--stream=nightly", "--dry-run", "--json") == OK
    assert json.loads(capsys.readouterr().out)["streams"] == {"nightly": "grow"}
    assert not (tmp_path / "new").exists()


def test_an_aggregate_with_a_wrong_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run(tmp_path, "init", "--aggregate=../all=../nightly/")
    assert "../all: expected a name of a stream" in capsys.readouterr().err
