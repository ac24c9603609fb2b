"""Tests of the programs of an install prefix."""

from pathlib import Path

from develop.testing.elf_sample import Sample
from hip.tools.prefix.compiler import Compiler
from hip.tools.prefix.programs import find_programs, program_calls

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
