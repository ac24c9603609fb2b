"""Tests of how tools begin and end."""

import errno
import os
from pathlib import Path

import pytest

from lib.common.program import (
    ToolError,
    counted,
    directories_above,
    printable,
    read_document,
    report_errors,
    size_text,
    usable_cores,
    write_document,
)


def test_a_tool_error_is_one_message_that_names_the_target(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        raise ToolError("x: expected y. Do z")

    assert report_errors("//a:b", work) == 1
    assert capsys.readouterr() == ("", "ERROR: //a:b: x: expected y. Do z\n")


def test_a_file_that_may_not_be_read_is_named_as_its_owner_knows_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Actions see links; and who runs them may not be who owns the files."""
    (tmp_path / "file").touch()
    (tmp_path / "input").symlink_to("file")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may read all

    def work() -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(tmp_path / "input"))

    assert report_errors("//a:b", work) == 1
    assert capsys.readouterr().err == (
        f"ERROR: //a:b: {tmp_path}/file: Permission denied. Actions may run as another user than Bazel does: make the "
        "file readable for all, and its directories passable (chmod a+r, a+x)\n"
    )


@pytest.mark.parametrize("names", [["output"], ["missing"], []])
def test_a_file_that_may_not_be_written_is_a_defect(tmp_path: Path, names: list[str]) -> None:
    (tmp_path / "output").touch()

    def work() -> None:
        raise PermissionError(errno.EACCES, "Permission denied", *(str(tmp_path / name) for name in names))

    with pytest.raises(PermissionError):
        report_errors("//a:b", work)


def test_an_input_that_is_gone_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What no link leads to is a bug of the tool."""
    (tmp_path / "input").symlink_to("gone")
    assert report_errors("//a:b", lambda: print((tmp_path / "input").read_text())) == 1
    assert capsys.readouterr().err == (
        f"ERROR: //a:b: {tmp_path}/gone: was removed while the build ran. Put it back, or build again\n"
    )
    with pytest.raises(FileNotFoundError):
        report_errors("//a:b", lambda: print((tmp_path / "missing").read_text()))


def test_a_defect_keeps_its_traceback() -> None:
    def work() -> None:
        raise KeyError("defect")

    with pytest.raises(KeyError):
        report_errors("//a:b", work)


def test_work_that_is_done_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert report_errors("//a:b", lambda: None) == 0
    assert capsys.readouterr() == ("", "")


def test_equal_content_is_equal_bytes_one_field_a_line(tmp_path: Path) -> None:
    path = tmp_path / "document"
    document = {"b": ["ï", 1], "a": None}
    write_document(str(path), document)
    assert path.read_bytes() == '{\n "b": [\n  "ï",\n  1\n ],\n "a": null\n}\n'.encode()
    assert read_document(str(path)) == document


@pytest.mark.parametrize("content", [b"", b"{", b'"\xff"'])
def test_what_is_no_json_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "document"
    path.write_bytes(content)
    with pytest.raises(ToolError) as error:
        read_document(str(path))
    assert str(error.value).startswith(f"{path}: expected a JSON document: ")


def test_no_more_than_wanted_or_there() -> None:
    there = len(os.sched_getaffinity(0))
    assert usable_cores(1) == 1
    assert usable_cores(10_000) == there
    assert usable_cores(0) == 1


def test_paths_that_are_no_text_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    print(printable(os.fsdecode(b"a\xffb")))
    assert capsys.readouterr().out == "a\\udcffb\n"


def test_sizes_have_three_digits_and_a_unit() -> None:
    sizes = (0, 999, 1000, 9_994, 9_996, 99_940, 99_960, 999_400, 999_600, 10**9, 10**16)
    expected = "0 bytes, 999 bytes, 1.00 kB, 9.99 kB, 10.0 kB, 99.9 kB, 100 kB, 999 kB, 1.00 MB, 1.00 GB, 10000 TB"
    assert ", ".join(map(size_text, sizes)) == expected


@pytest.mark.parametrize(("path", "above"), [("lib/a/b.so", ["lib/a", "lib"]), ("lib", []), ("", [])])
def test_directories_above(path: str, above: list[str]) -> None:
    assert list(directories_above(path)) == above


def test_a_number_of_things() -> None:
    assert [counted(count, "file") for count in range(3)] == ["0 files", "1 file", "2 files"]
