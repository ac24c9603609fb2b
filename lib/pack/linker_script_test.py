"""Tests of linker scripts, with every linker that the machine has: `.ci/run elf` runs them where all four are."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lib.pack.linker_script import linker_script, read_linker_script

#: Linkers, and how GNU's compiler is told to take them.
LINKERS = {"ld.bfd": "bfd", "ld.gold": "gold", "ld.lld": "lld", "ld.mold": "mold"}


def test_it_is_a_script() -> None:
    assert linker_script("../../_core/lib/liba.so.1").decode().splitlines() == [
        "/* GNU ld script, made by rules_rocm_python: this library lies elsewhere. */",
        'INPUT("../../_core/lib/liba.so.1")',
    ]


@pytest.mark.parametrize("target", ["../../_core/lib/liba.so.1", "lib a+ï.so.1"])
def test_it_is_read_back_and_no_other_script_is(target: str) -> None:
    assert read_linker_script(linker_script(target)) == target
    assert read_linker_script(b"/* GNU ld script */\nINPUT(liba.so.1)\n") is None
    assert read_linker_script(b"\xff\xfe") is None


def compile_(*arguments: object) -> None:
    subprocess.run(["gcc", *map(str, arguments)], check=True)


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs a compiler")
@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("name", ["liba.so.1", "lib a+ï.so.1"], ids=["plain", "odd"])
@pytest.mark.parametrize("given", ["by name", "by path"])
def test_linkers_take_it(tmp_path: Path, linker: str, name: str, given: str) -> None:
    if not shutil.which(linker):
        pytest.skip(f"needs {linker}")
    core, devel = tmp_path / "_core/lib", tmp_path / "_devel/lib"
    core.mkdir(parents=True)
    devel.mkdir(parents=True)
    (tmp_path / "a.c").write_text("int a(void) { return 7; }")
    (tmp_path / "main.c").write_text("int a(void); int main(void) { return a(); }")
    compile_("-shared", "-fPIC", "-o", core / name, f"-Wl,-soname,{name}", tmp_path / "a.c")
    (devel / "liba.so").write_bytes(linker_script(f"../../_core/lib/{name}"))
    program, elsewhere = tmp_path / "main", tmp_path / "elsewhere"
    elsewhere.mkdir()
    library = [str(devel / "liba.so")] if given == "by path" else [f"-L{devel}", "-la"]
    words = ["gcc", f"-fuse-ld={LINKERS[linker]}", str(tmp_path / "main.c"), *library, "-o", str(program)]
    subprocess.run(words, cwd=elsewhere, check=True)
    done = subprocess.run([program], env=os.environ | {"LD_LIBRARY_PATH": str(core)}, check=False)
    assert done.returncode == 7
