"""Which steps run, what is compared, and the exit codes; a program that writes files stands in for Bazel."""

from pathlib import Path

import pytest

from develop.try_bazel.__main__ import main

#: Answers `info`, and fails for words of $FAILING. What it builds is named for its output base's file `content`.
FAKE = """#!/bin/sh
echo "$*" >> "$HERE/calls"
base=${1#--output_base=}
mkdir -p "$base/bin/packaging/dist"
case "$*" in *"info release"*) echo "release $VERSION"; exit;; *"info bazel-bin"*) echo "$base/bin"; exit;; esac
case "$*" in *" $FAILING"*) echo "ERROR: no"; exit 1;; esac
case "$base" in */again) content=$AGAIN;; *) content=same;; esac
echo "$content" > "$base/bin/packaging/dist/a-1-py3-none-any.whl"
echo "Executed 2 out of 3 tests: 3 tests pass."
"""


@pytest.fixture
def bazel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the program, which does all well."""
    for name, value in {"HERE": str(tmp_path), "VERSION": "9.2.0", "FAILING": "nothing", "AGAIN": "same"}.items():
        monkeypatch.setenv(name, value)
    program = tmp_path / "bazel"
    program.write_text(FAKE)
    program.chmod(0o755)
    return program


def run(bazel: Path, *arguments: str) -> int:
    """Try it with a scratch directory beside it."""
    return main([f"--bazel={bazel}", f"--scratch={bazel.parent / 'scratch'}", *arguments])


def test_all_steps(bazel: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = bazel.parent / "table"
    assert run(bazel, f"--table={table}", "--option=--registry=x") == 0
    assert "\n| 9.2.0 | passed | 3 passed | 3 passed | 3 passed | `" in table.read_text()
    assert table.read_text() in capsys.readouterr().out
    builds = [line for line in (bazel.parent / "calls").read_text().splitlines() if "--symlink_prefix" in line]
    assert len(builds) == 6
    assert all("--registry=x" in line for line in builds)


def test_a_failure_stops_no_other_step(
    bazel: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAILING", "//tests/...")
    assert run(bazel) == 1
    output = capsys.readouterr().out
    assert "ERROR: no" in output
    assert "| passed | **failed** | 3 passed |" in output


@pytest.mark.parametrize("again", ["same", "other"])
def test_bytes(bazel: Path, monkeypatch: pytest.MonkeyPatch, again: str) -> None:
    monkeypatch.setenv("AGAIN", again)
    digest = bazel.parent / "digest"
    assert run(bazel, "bytes", f"--digest={digest}") == (again != "same")
    if digest.exists():
        assert run(bazel, "bytes", f"--expect={digest.read_text().strip()}") == 0
        assert run(bazel, "bytes", "--expect=00") == 1


def test_a_bazel_that_is_too_old(bazel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERSION", "7.3.2")
    assert run(bazel) == 2
    assert run(bazel.parent / "missing") == 2
