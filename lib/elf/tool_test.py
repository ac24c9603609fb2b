"""The command line: what it prints, what it writes, and what it leaves behind when it fails."""

from pathlib import Path

import pytest

from develop.testing.elf_sample import BUILD_ID, Sample
from lib.elf import constants as c
from lib.elf.patch import Patch
from lib.elf.reader import read_elf
from lib.elf.tool import main


@pytest.fixture
def library(tmp_path: Path) -> Path:
    path = tmp_path / "libsample.so"
    path.write_bytes(Sample(runpath="/old:", spare=1).build())
    path.chmod(0o555)
    return path


def test_show(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(library)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{library}: 64-bit little-endian x86_64 shared library, {library.stat().st_size} bytes"
    assert lines[1:] == [
        "  SONAME: libsample.so.1",
        f"  build ID: {BUILD_ID.hex()}",
        "  RUNPATH:",
        "    /old",
        "    (empty: the current directory)",
        "  needs libc.so.6 (GLIBC_2.2.5)",
        "  with a symbol table; 2 loaded segments; 1 spare dynamic entries",
        "  can be edited",
    ]


def test_show_what_cannot_be_edited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kernel.co"
    path.write_bytes(Sample(machine=c.EM_AMDGPU).build())
    assert main(["show", str(path)]) == 0
    out = capsys.readouterr().out
    assert "64-bit little-endian AMD GPU shared library" in out
    assert "cannot be edited: only x86_64 (62) and aarch64 (183) files are edited; e_machine is 224" in out


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], ("$ORIGIN:b", None)),
        (["--runpath"], (None, "$ORIGIN:b")),
        (["--extend"], ("/old::$ORIGIN:b", None)),
    ],
)
def test_set_rpath(
    library: Path, options: list[str], expected: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    output = library.with_name("out.so")
    assert main(["set-rpath", str(library), "--output", str(output), *options, "$ORIGIN", "b"]) == 0
    with output.open("rb") as file:
        elf = read_elf(file, "out")
    assert (elf.rpath, elf.runpath) == expected
    assert output.stat().st_mode & 0o7777 == 0o555
    out = capsys.readouterr().out
    assert out.startswith(f"{library}: last-segment, {library.stat().st_size} -> {output.stat().st_size} bytes\n")
    assert "  changed: 8 bytes at 0x28\n" in out


def test_output_may_be_the_input(library: Path) -> None:
    assert main(["set-rpath", str(library), "--output", str(library), "x"]) == 0
    with library.open("rb") as file:
        assert read_elf(file, "in place").rpath == "x"
    assert [path.name for path in library.parent.iterdir()] == ["libsample.so"]


@pytest.mark.parametrize(
    ("content", "entry", "reason"),
    [
        (b"#!/bin/sh\n" + bytes(20), "x", "not an ELF file"),
        (Sample().build()[:-1], "x", "truncated or damaged"),
        (Sample().build(), "a:b", "contain a colon"),
    ],
)
def test_failure_leaves_nothing(
    tmp_path: Path, content: bytes, entry: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "in"
    source.write_bytes(content)
    assert main(["set-rpath", str(source), "--output", str(tmp_path / "out"), entry]) == 1
    assert reason in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_interrupted_write_leaves_the_old_output(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = library.with_name("out.so")
    output.write_bytes(b"old")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Patch, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        main(["set-rpath", str(library), "--output", str(output), "x"])
    assert output.read_bytes() == b"old"
    assert sorted(path.name for path in library.parent.iterdir()) == ["libsample.so", "out.so"]


def test_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(tmp_path / "absent")]) == 1
    assert "absent" in capsys.readouterr().err


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    out = capsys.readouterr().out
    assert "$ORIGIN stands for the" in out
    assert "DT_RPATH is searched before LD_LIBRARY_PATH" in out
