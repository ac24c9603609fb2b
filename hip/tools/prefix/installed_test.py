"""Tests of ROCm in /usr, among other files: as Debian installs it."""

from collections.abc import Mapping
from pathlib import Path

from hip.tools.prefix.compiler import find_compiler
from hip.tools.prefix.installed import LISTS, files_of_packages
from hip.tools.prefix.merge import merge

#: Package -> its files.
PACKAGES = {
    "clang-22": ("usr/lib/llvm-22/bin/clang",),
    "clang-tools-22": ("usr/lib/llvm-22/bin/clang-offload-bundler",),
    "libamdhip64-dev:amd64": ("usr/include/hip/hip_runtime.h",),
    "libc6-dev:amd64": ("usr/include/stdio.h",),
    "libclang-common-22-dev:amd64": ("usr/lib/llvm-22/lib/clang/22/include/__clang_hip_runtime_wrapper.h",),
    "lld-22": ("usr/lib/llvm-22/bin/lld",),
    "rocm-device-libs-22": ("usr/lib/llvm-22/lib/clang/22/amdgcn/bitcode/ocml.bc",),
    "zlib1g:amd64": ("usr/lib/x86_64-linux-gnu/libz.so.1",),
}


def install(root: Path, packages: Mapping[str, tuple[str, ...]]) -> Path:
    """Install packages as dpkg does; return the directory that users name."""
    (root / LISTS).mkdir(parents=True)
    for package, files in packages.items():
        for path in files:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).touch(mode=0o755)
        (root / LISTS / f"{package}.list").write_text("".join(f"/{path}\n" for path in ("usr", *files)))
    return root / "usr"


def test_other_files_are_no_part_of_the_sdk(tmp_path: Path) -> None:
    merge([], tmp_path / "prefix", install(tmp_path / "root", PACKAGES))
    found = {str(path.relative_to(tmp_path / "prefix")) for path in (tmp_path / "prefix").rglob("*") if path.is_file()}
    others = {"include/stdio.h", "lib/x86_64-linux-gnu/libz.so.1"}
    assert found == {path.removeprefix("usr/") for files in PACKAGES.values() for path in files} - others
    compiler = find_compiler(tmp_path / "prefix")
    assert compiler
    assert compiler.program("clang") == "lib/llvm-22/bin/clang"


def test_a_directory_of_an_sdk_alone_counts_whole(tmp_path: Path) -> None:
    assert files_of_packages(install(tmp_path, {"zlib1g": PACKAGES["zlib1g:amd64"]})) is None
    assert files_of_packages(tmp_path / "opt/rocm") is None
