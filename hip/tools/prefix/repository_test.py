"""The files of a repository, from a prefix that is there, and the messages for a prefix that cannot be used."""

from pathlib import Path

import pytest

from develop.testing.prefix_sample import CMAKE, PrefixWriter, library, write_prefix
from hip.tools.prefix.repository import main


def arguments(place: Path) -> list[str]:
    """Return those for the prefix in a directory, and for a repository beside it."""
    (place / "repository").mkdir()
    return ["--output", str(place / "repository"), "--cmake", str(CMAKE), "--tree", str(place / "prefix")]


def run(place: Path) -> str:
    assert main(arguments(place)) == 0
    return (place / "repository/BUILD.bazel").read_text(encoding="utf-8")


def message(place: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(arguments(place)) == 1
    return capsys.readouterr().err


def test_the_same_text_wherever_the_prefix_is(tmp_path: Path) -> None:
    texts = set()
    for name in ("a", "b/c"):
        write_prefix(tmp_path / name / "prefix")
        texts.add(run(tmp_path / name))
    (text,) = texts
    assert 'name = "miopen"' in text
    assert "__prefix__" not in text
    assert str(tmp_path) not in text


def test_a_prefix_of_links(tmp_path: Path) -> None:
    write_prefix(tmp_path / "real/prefix")
    for path in sorted((tmp_path / "real/prefix").rglob("*")):
        if not path.is_dir():
            place = tmp_path / "merged/prefix" / path.relative_to(tmp_path / "real/prefix")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(path.readlink() if path.is_symlink() else path)
    assert run(tmp_path / "merged") == run(tmp_path / "real")


def test_the_name_by_which_options_ask_for_targets(tmp_path: Path) -> None:
    write_prefix(tmp_path / "prefix")
    assert main([*arguments(tmp_path), "--name=acme_rocm", "--target=gfx90a"]) == 0
    text = (tmp_path / "repository/BUILD.bazel").read_text(encoding="utf-8")
    assert '    build_setting_default = ["gfx90a"],\n    option = "@acme_rocm//:targets",\n' in text


def test_libraries_of_others_are_noted(tmp_path: Path) -> None:
    writer = PrefixWriter(tmp_path / "prefix")
    writer.write("include/x.h")
    writer.package("x", library("x", "INTERFACE", "ZLIB::ZLIB"))
    run(tmp_path)
    notes = (tmp_path / "repository/left_out.txt").read_text(encoding="utf-8")
    assert notes == "x: ZLIB::ZLIB, which it links with: no package of the prefix offers it\n"


def test_damaged_packages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    PrefixWriter(tmp_path / "prefix").write("lib/cmake/x/x-config.cmake", "set(A\n")
    said = message(tmp_path, capsys)
    assert "CMake can read no package of it. x: CMake stops at lib/cmake/x/x-config.cmake:1: Parse error." in said
    assert said.endswith("Install the SDK again\n")


def test_a_prefix_whose_parts_were_moved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prefix = tmp_path / "prefix"
    write_prefix(prefix, "x86_64-linux-gnu")
    (prefix / "lib/x86_64-linux-gnu").rename(prefix / "moved")
    (prefix / "lib").rmdir()
    (prefix / "moved").rename(prefix / "lib")
    assert "Install the SDK into this prefix; do not move parts of it" in message(tmp_path, capsys)
