"""Tests of forwarders: what is in one, and that the loader reaches the one real library through it."""

import ctypes
import io
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerDefSection
from elftools.elf.hash import ELFHashTable

from lib.common.program import ToolError
from lib.elf import constants as c
from lib.elf.reader import read_elf
from lib.pack.stand_ins import COMMENT, forwarder

HERE = {"x86_64": c.EM_X86_64, "aarch64": c.EM_AARCH64}[platform.machine()]
MACHINES = [c.EM_X86_64, c.EM_AARCH64]
NAMES = [("libfoo.so", "libfoo.so.1"), ("libï+.so", "libï+.so.22.0git"), ("l" * 250 + ".so", "l" * 250 + ".so.1")]
#: Opens a forwarder, and prints whether a function through it, and through its names, is the real library's.
PROBE = r"""
import ctypes, os, sys
def address(library): return ctypes.cast(library.cos, ctypes.c_void_p).value
through = ctypes.CDLL(sys.argv[1])
again = ctypes.CDLL(os.path.basename(sys.argv[1]), mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
real = ctypes.CDLL("libm.so.6", mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
print(address(through) == address(again) == address(real))
print(*[line.strip() for line in open("/proc/self/maps") if sys.argv[1] in line], sep="\n")
"""


def opened(content: bytes) -> ELFFile:
    return ELFFile(io.BytesIO(content))


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("soname", "needed"), NAMES, ids=["short", "beyond ASCII", "long"])
def test_it_names_itself_and_needs_the_library_beside_it(soname: str, needed: str, machine: int) -> None:
    elf = opened(forwarder(soname, needed, machine))
    assert elf.header.e_type == "ET_DYN"
    assert elf["e_machine"] == {62: "EM_X86_64", 183: "EM_AARCH64"}[machine]
    section = elf.get_section_by_name(".dynamic")
    assert isinstance(section, DynamicSection)
    tags = [(tag.entry.d_tag, getattr(tag, tag.entry.d_tag[3:].lower(), None)) for tag in section.iter_tags()]
    assert tags[:3] == [("DT_NEEDED", needed), ("DT_SONAME", soname), ("DT_RPATH", "$ORIGIN")]
    assert [name for name, _ in tags[3:]] == ["DT_HASH", "DT_STRTAB", "DT_SYMTAB", "DT_STRSZ", "DT_SYMENT", "DT_NULL"]


def test_it_is_about_one_kilobyte() -> None:
    assert len(forwarder("librocsolver.so", "librocsolver.so.0", c.EM_X86_64)) <= 1104


def test_it_defines_nothing_and_says_what_it_is() -> None:
    elf = opened(forwarder("libfoo.so", "libfoo.so.1", c.EM_X86_64))
    sections = {section.name: section for section in elf.iter_sections()}
    assert list(sections) == ["", ".hash", ".dynsym", ".dynstr", ".dynamic", ".comment", ".shstrtab"]
    assert sections[".dynsym"].data() == bytes(24)
    assert sections[".comment"].data() == COMMENT


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(("soname", "needed"), NAMES, ids=["short", "beyond ASCII", "long"])
def test_segments_suit_every_page_size_and_nothing_stays_writable(soname: str, needed: str, machine: int) -> None:
    segments = {segment["p_type"]: segment for segment in opened(forwarder(soname, needed, machine)).iter_segments()}
    elf = opened(forwarder(soname, needed, machine))
    loads = [segment for segment in elf.iter_segments() if segment["p_type"] == "PT_LOAD"]
    assert [load["p_flags"] for load in loads] == [c.PF_R, c.PF_R | c.PF_W]
    for load in loads:
        assert load["p_align"] == 0x10000
        assert (load["p_offset"] - load["p_vaddr"]) % load["p_align"] == 0
    relro, writable = segments["PT_GNU_RELRO"], loads[1]
    assert (relro["p_vaddr"], relro["p_memsz"]) == (writable["p_vaddr"], writable["p_memsz"])
    assert (relro["p_vaddr"] + relro["p_memsz"]) % 0x10000 == 0
    assert not segments["PT_GNU_STACK"]["p_flags"] & c.PF_X


def test_the_loader_reaches_the_real_library(tmp_path: Path) -> None:
    """Of the C library's mathematics, which every Python has at hand, there stays one instance."""
    path = tmp_path / "libm_of_a_package.so"
    path.write_bytes(forwarder(path.name, "libm.so.6", HERE))
    result = subprocess.run([sys.executable, "-c", PROBE, path], capture_output=True, text=True, check=False)
    same, *maps = result.stdout.splitlines()
    assert (same, result.stderr) == ("True", "")
    assert maps
    assert not [line for line in maps if "w" in line.split()[1]], maps


def test_the_library_beside_it_is_the_one_that_loads(tmp_path: Path) -> None:
    """What is beside the forwarder, and not what LD_LIBRARY_PATH says, is loaded: here one forwards to another."""
    for directory, needed in ((tmp_path, "libm.so.6"), (tmp_path / "other", "libmissing.so.6")):
        directory.mkdir(exist_ok=True)
        (directory / "libfoo.so.1").write_bytes(forwarder("libfoo.so.1", needed, HERE))
    (tmp_path / "libfoo.so").write_bytes(forwarder("libfoo.so", "libfoo.so.1", HERE))
    code = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    variables = os.environ | {"LD_LIBRARY_PATH": str(tmp_path / "other")}
    subprocess.run([sys.executable, "-c", code, tmp_path / "libfoo.so"], env=variables, check=True)


def test_a_library_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "libfoo.so").write_bytes(forwarder("libfoo.so", "libfoo.so.1", HERE))
    with pytest.raises(OSError, match=r"libfoo\.so\.1: cannot open shared object file"):
        ctypes.CDLL(str(tmp_path / "libfoo.so"))


#: A library with versioned symbols, and a program that needs one of them.
VERSIONED = ("int a(void) { return 7; }", "A_1 { global: a; local: *; };")
USER = "int a(void); int main(void) { return a(); }"


def test_it_defines_the_versions_of_symbols() -> None:
    content = forwarder("liba.so.1", "../../_core/lib/liba.so.1", c.EM_X86_64, ("A_1", "A_ï"))
    section = opened(content).get_section_by_name(".gnu.version_d")
    assert isinstance(section, GNUVerDefSection)
    found = [(one.entry, [aux.name for aux in names]) for one, names in section.iter_versions()]
    assert [names for _, names in found] == [["liba.so.1"], ["A_1"], ["A_ï"]]
    assert [(one["vd_flags"], one["vd_ndx"]) for one, _ in found] == [(1, 1), (0, 2), (0, 3)]
    assert [one["vd_hash"] for one, _ in found] == [ELFHashTable.elf_hash(names[0]) for _, names in found]
    elf = read_elf(io.BytesIO(content), "liba.so.1")
    assert elf.versions_defined == ("liba.so.1", "A_1", "A_ï")
    assert elf.needed == ("$ORIGIN/../../_core/lib/liba.so.1",)


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs a compiler")
def test_a_program_with_versions_starts_without_a_word(tmp_path: Path) -> None:
    """The loader checks the versions with the first library of the SONAME, which is the forwarder."""
    core, devel = tmp_path / "_core/lib", tmp_path / "_devel/lib"
    core.mkdir(parents=True)
    devel.mkdir(parents=True)
    for name, text in zip(("a.c", "a.map", "main.c"), (*VERSIONED, USER), strict=True):
        (tmp_path / name).write_text(text)
    library, program = core / "liba.so.1", tmp_path / "main"
    options = ["-shared", "-fPIC", "-Wl,-soname,liba.so.1", f"-Wl,--version-script={tmp_path}/a.map"]
    subprocess.run(["gcc", *options, tmp_path / "a.c", "-o", library], check=True)
    subprocess.run(["gcc", tmp_path / "main.c", library, f"-Wl,-rpath,{devel}", "-o", program], check=True)
    for versions in (("A_1",), ()):
        content = forwarder("liba.so.1", "../../_core/lib/liba.so.1", HERE, versions)
        (devel / "liba.so.1").write_bytes(content)
        done = subprocess.run([program], capture_output=True, text=True, check=False)
        assert done.returncode == 7
        assert bool(done.stderr) == (not versions), done.stderr


def test_other_cpus_are_refused() -> None:
    with pytest.raises(ToolError, match=r"^libfoo\.so: a forwarder for e_machine 243; expected one of \[62, 183\]"):
        forwarder("libfoo.so", "libfoo.so.1", 243)
