"""The files of a repository, from a prefix that is there, and the messages for a prefix that cannot be used."""

import json
import shutil
from pathlib import Path

import pytest

from develop.testing.elf_sample import Sample
from develop.testing.prefix_sample import CMAKE, PrefixWriter, library, write_prefix
from hip.tools.prefix.build_file import Compiler
from hip.tools.prefix.repository import find_programs, main, program_calls


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


def test_a_development_tree_whose_links_a_manifest_lists(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As wheels have it: what the runtime package has is not in the tree, and links are nowhere."""
    write_prefix(tmp_path / "whole/prefix")
    site = tmp_path / "site"
    shutil.copytree(tmp_path / "whole/prefix", site / "_rocm_sdk_devel", symlinks=True)
    tree, links = site / "_rocm_sdk_devel", []
    for path in [path for path in tree.rglob("*") if path.is_symlink() or ".so" in path.name]:
        relpath = path.relative_to(tree).as_posix()
        text = str(path.readlink()) if path.is_symlink() else "../" * (relpath.count("/") + 1) + f"_core/{relpath}"
        if path.is_symlink():
            path.unlink()
        else:
            (site / "_core" / relpath).parent.mkdir(parents=True, exist_ok=True)
            path.rename(site / "_core" / relpath)
        links.append({"relpath": relpath, "target": text})
    assert len(links) > 2
    manifest = site / "rocm_sdk_devel/.devel_links/devel.json"
    manifest.parent.mkdir(parents=True)
    (site / "rocm_sdk_devel-1.dist-info").mkdir()
    (site / "rocm_sdk_devel-1.dist-info/RECORD").write_text("rocm_sdk_devel/.devel_links/devel.json,sha256=x,1\n")
    manifest.write_text("null")
    (tmp_path / "repository").mkdir()
    given = ["--output", str(tmp_path / "repository"), "--cmake", str(CMAKE), "--tree", str(tree)]
    given += ["--devel", str(site / "rocm_sdk_devel"), "--beside", str(site / "_core")]
    assert main(given) == 1
    assert "devel.json is damaged" in capsys.readouterr().err
    manifest.write_text(json.dumps({"version": "1", "links": links}))
    assert main(given) == 0
    assert (tmp_path / "repository/BUILD.bazel").read_text(encoding="utf-8") == run(tmp_path / "whole")


def test_how_options_name_targets(tmp_path: Path) -> None:
    write_prefix(tmp_path / "prefix")
    assert main([*arguments(tmp_path), "--target=gfx90a"]) == 0
    text = (tmp_path / "repository/BUILD.bazel").read_text(encoding="utf-8")
    assert '    build_setting_default = ["gfx90a"],\n    option = "@rocm//:targets",\n' in text


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


COMPILER = Compiler("lib/llvm", "lib/llvm/lib/clang/22", "amdgcn/bitcode")

CALL = """\
rocm_program(
    name = "rocminfo",
    needed = [
        ":lib/libone.so.1",
        ":lib/libtwo.so.2",
    ],
    program = "prefix/bin/rocminfo",
)
"""


def planted(prefix: Path, *paths: str, mode: int = 0o755) -> Path:
    """Make files."""
    for path in paths:
        (prefix / path).parent.mkdir(parents=True, exist_ok=True)
        (prefix / path).touch(mode=mode)
    return prefix


def test_programs_of_the_sdk_and_of_the_compiler(tmp_path: Path) -> None:
    planted(tmp_path, "bin/rocminfo", "bin/hipcc", "bin/hipify-clang", "lib/llvm/bin/clang++", "lib/llvm/bin/opt")
    assert find_programs(tmp_path, COMPILER) == {
        "clang++": "lib/llvm/bin/clang++",
        "hipcc": "bin/hipcc",
        "hipify-clang": "bin/hipify-clang",
        "rocminfo": "bin/rocminfo",
    }
    assert "clang++" not in find_programs(tmp_path, None)


def test_what_is_no_program(tmp_path: Path) -> None:
    """Data, directories, links that dangle, Debian's names with a version, and names that no target can have."""
    planted(tmp_path, "bin/rocminfo", "bin/clang-22", "bin/a:b", "bin/a=b", "bin/directory/x")
    planted(tmp_path, "bin/.hipVersion", "bin/data.txt", mode=0o644)
    (tmp_path / "bin/link").symlink_to("gone")
    assert list(find_programs(tmp_path, None)) == ["rocminfo"]


def test_an_sdk_without_programs(tmp_path: Path) -> None:
    assert find_programs(tmp_path, None) == {}
    assert list(program_calls(tmp_path, None, set())) == []


def test_a_program_of_the_sdk_goes_before_one_of_llvm(tmp_path: Path) -> None:
    planted(tmp_path, "bin/amdgpu-arch", "lib/llvm/bin/amdgpu-arch")
    assert find_programs(tmp_path, COMPILER) == {"amdgpu-arch": "bin/amdgpu-arch"}


def test_calls(tmp_path: Path) -> None:
    """A name is taken by a library, or by what each repository has."""
    planted(tmp_path, "bin/rocminfo", "bin/hip", "bin/targets", "bin/all_headers", "lib/libone.so.1", "lib/libtwo.so.2")
    (tmp_path / "bin/rocminfo").write_bytes(Sample(soname=None, needed=("libone.so.1", "libc.so.6")).build())
    (tmp_path / "lib/libone.so.1").write_bytes(Sample(soname="libone.so.1", needed=("libtwo.so.2",)).build())
    assert list(program_calls(tmp_path, None, {"hip"})) == [CALL]
