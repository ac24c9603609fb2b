"""The command line: what it does, says and returns."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from develop.testing.publish_sample import CORE, FILES, SDIST, tree, with_pages, write
from lib.common.wheel_scripts import put_on_path
from wheels.publish.tool import main

BUILD = with_pages(FILES)


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    return write(tmp_path / "dist", BUILD)


def run(dist: Path, *arguments: str) -> int:
    """Call the command."""
    return main([f"--dist={dist}", *arguments])


def test_the_layout_of_a_run(dist: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "bucket"
    assert run(dist, f"--to={place}", "--run-id=123", "--group=gfx110X-all") == 0
    assert tree(place) == {f"123-linux/python/gfx110X-all/{path}": content for path, content in BUILD.items()}
    assert f"published to {place}/123-linux/python/gfx110X-all: 4 files and 3 pages" in capsys.readouterr().out
    assert run(dist, f"--to=file://{place}", "--run-id=123", "--platform=windows") == 0
    assert tree(place / "123-windows/python") == BUILD


def test_again(dist: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(dist, f"--to={tmp_path}/place") == 0
    before = {path: path.stat() for path in (tmp_path / "place").rglob("*")}
    capsys.readouterr()
    assert run(dist, f"--to={tmp_path}/place") == 0
    captured = capsys.readouterr()
    assert captured.out == f"published to {tmp_path}/place: 0 files and 0 pages (0 bytes); 7 were there\n"
    assert captured.err == ""
    assert {path: path.stat().st_mtime_ns for path in before} == {p: s.st_mtime_ns for p, s in before.items()}


def test_relative_paths_begin_where_bazel_run_was_typed(
    dist: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(tmp_path))
    assert run(dist, "--to=place") == 0
    assert tree(tmp_path / "place") == BUILD


def test_a_line_per_file(dist: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(dist, f"--to={tmp_path}/place") == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == f"sent      1/7 {SDIST}: 8 bytes"
    assert lines[-1].startswith("page      7/7 index.html: ")
    assert len(lines) == len(BUILD)


def test_dry_run(dist: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "place"
    assert run(dist, f"--to={place}", "--dry-run") == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"send   {CORE}: 4 bytes" in lines
    assert lines[-1] == f"would send 4 files (46 bytes) and 3 pages to {place}"
    assert not place.exists()


def test_conflict(dist: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = write(tmp_path / "place", {CORE: b"other"})
    for options in ((), ("--dry-run",)):
        assert run(dist, f"--to={place}", *options) == 1
        assert f"rocm-wheels publish: {place} has other bytes than this build" in capsys.readouterr().err
    assert tree(place) == {CORE: b"other"}, "nothing is sent where something conflicts"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to=s3://"], "expected s3://BUCKET"),
        (["--to=s3://bucket/../x"], "expected s3://BUCKET"),
        (["--to=ftp://host/x"], "expected a directory, file:///PATH"),
        (["--to=file://host/x"], "a directory of this machine"),
        (["--to=x", "--run-id=../x"], "--run-id=../x: expected letters"),
        (["--to=x", "--run-id=1", "--group=a/b"], "--group=a/b: expected letters"),
        (["--to=x", "--group=gfx110X-all"], "also name the run, with --run-id"),
        (["--to=index"], "--upload-url"),
        (
            ["--to=index", "--upload-url=http://x/", "--index-url=http://x/", "--run-id=1"],
            "an index has no directories",
        ),
        (["--to=index", "--upload-url=http://u:secret@x/", "--index-url=http://x/"], "has credentials in it"),
        (["--to=index", "--upload-url=x", "--index-url=http://x/"], "expected a URL"),
        (["--to=x", "--index-url=http://x/"], "belong to --to=index"),
        (["--to=x", "--endpoint-url=http://x/"], "belongs to s3://BUCKET"),
    ],
)
def test_mistakes(
    dist: Path,
    tmp_path: Path,
    arguments: Sequence[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(tmp_path))
    assert run(dist, *arguments) == 2
    text = capsys.readouterr().err
    assert message in text
    assert "secret" not in text
    assert [path.name for path in tmp_path.iterdir()] == ["dist"]


def test_nothing_to_publish(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path / "absent", "--to=x") == 2
    assert "there is no such directory; build the index first" in capsys.readouterr().err
    assert run(write(tmp_path / "pages", {"index.html": b""}), "--to=x") == 2
    assert "contains no wheel and no sdist" in capsys.readouterr().err
    assert run(write(tmp_path / "wheels", FILES), "--to=x") == 2
    assert "contains no page of an index" in capsys.readouterr().err


def test_a_place_that_cannot_be_written(dist: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(dist, "--to=/proc/place") == 2
    assert "rocm-wheels publish: [Errno" in capsys.readouterr().err


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    out = capsys.readouterr().out
    assert "publish --to s3://my-bucket --run-id 21440027240 --group gfx110X-all --dry-run" in out
    assert "AWS_ACCESS_KEY_ID" in out
    assert "1  the place has other bytes or distributions than this build" in out


def test_uv_is_at_hand() -> None:
    """The locked wheel has the program that uploads to indexes, and it can do what is asked of it."""
    put_on_path()
    text = subprocess.run(["uv", "publish", "--help"], capture_output=True, text=True, check=True).stdout
    assert "--check-url" in text
    assert "--publish-url" in text
