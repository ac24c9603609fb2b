"""Tests of the inspect tool: what files are, and what it says of damaged ones."""

import io
import json
import os
import struct
from pathlib import Path
from typing import Any

import pytest

from develop.testing.device_sample import HOST, PREFIX, Part, bundle, compressed
from develop.testing.device_sample import Sample as FatSample
from develop.testing.device_windows import windows_library
from develop.testing.elf_sample import Sample
from develop.testing.pe_sample import Sample as PeSample
from develop.testing.tiny_elf import program, relocatable
from lib.device.reader import is_bundle
from lib.elf import constants as c
from lib.elf.reader import read_elf
from lib.pe import constants as pe
from tools.actions.inspect import tool
from tools.actions.inspect.tool import file_facts, main

INTERPRETER = "/lib64/ld-linux-x86-64.so.2"


def facts(directory: Path, content: bytes) -> dict[str, Any]:
    path = directory / "file"
    path.write_bytes(content)
    found = file_facts(str(path), "a_lib_x/stage/file")
    assert found.pop("size") == len(content)
    return found


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "data"),
        (b"#", "data"),
        (b"\x7fEL", "data"),
        (b"text", "data"),
        (b"#!/usr/bin/env python3\n", "script"),
        (b"#!", "script"),
        (Sample().build(), "elf-library"),
        (Sample(soname=None).build(), "elf-library"),
        (Sample(soname=None, interpreter=INTERPRETER).build(), "elf-program"),
        (Sample(soname=None, kind=c.ET_EXEC).build(), "elf-program"),
        (program(".text", b"\xc3"), "elf-program"),
        (relocatable(), "elf-object"),
        (Sample(machine=c.EM_AMDGPU).build(), "gpu-code-object"),
        (relocatable(c.EM_AMDGPU), "gpu-code-object"),
    ],
    ids=[
        "empty",
        "one byte",
        "half of a magic number",
        "text",
        "script",
        "shortest script",
        "library",
        "library without SONAME",
        "PIE program",
        "program",
        "static program",
        "object",
        "GPU code object",
        "GPU object",
    ],
)
def test_types(tmp_path: Path, content: bytes, expected: str) -> None:
    assert facts(tmp_path, content)["type"] == expected


def test_library_that_can_be_run_is_a_library(tmp_path: Path) -> None:
    """libcap.so.2 has an interpreter, as programs do: a launcher in the place of a link to it could not be loaded."""
    found = facts(tmp_path, Sample(soname="libcap.so.2", interpreter=INTERPRETER).build())
    assert (found["type"], found["soname"], found["dynamic"]) == ("elf-library", "libcap.so.2", True)


def test_facts_of_a_library(tmp_path: Path) -> None:
    sample = Sample(
        soname="libx.so.1",
        needed=("libc.so.6", "liby.so"),
        rpath="$ORIGIN:/build",
        runpath="$ORIGIN/../lib::",
        versions=(("libc.so.6", ("GLIBC_2.2.5", "GLIBC_2.34")),),
    )
    assert facts(tmp_path, sample.build()) == {
        "type": "elf-library",
        "machine": c.EM_X86_64,
        "soname": "libx.so.1",
        "needed": ["libc.so.6", "liby.so"],
        "rpath": ["$ORIGIN", "/build"],
        "runpath": ["$ORIGIN/../lib", "", ""],
        "versions_needed": {"libc.so.6": ["GLIBC_2.2.5", "GLIBC_2.34"]},
        "dynamic": True,
    }


@pytest.mark.parametrize("symbol", ["dlopen", "dlmopen", "dlsym", "xdlopen"])
def test_a_file_that_needs_the_system_alone_may_open_libraries(symbol: str, tmp_path: Path) -> None:
    """A sanitizer has a dlopen of its own, which opens what its callers name."""
    opens = symbol in ("dlopen", "dlmopen")
    for undefined, symbols in (((symbol,), ("other",)), (("other",), (symbol,))):
        one = Sample(undefined=undefined, symbols=symbols, needed=("libc.so.6",))
        assert facts(tmp_path, one.build()).get("opens", False) == (opens and undefined == (symbol,))
    assert "opens" not in facts(tmp_path, Sample(undefined=(symbol,), needed=("libc.so.6", "libx.so")).build())


def test_a_file_whose_symbols_cannot_be_counted_may_open_libraries(tmp_path: Path) -> None:
    for name, opens in (("dlopen", True), ("other", False)):
        one = Sample(undefined=(name,), symbols=(), sections=False)
        assert facts(tmp_path, one.build()).get("opens", False) == opens


def test_an_empty_search_path_is_not_none(tmp_path: Path) -> None:
    """The loader ignores DT_RPATH where there is a DT_RUNPATH, also an empty one."""
    found = facts(tmp_path, Sample(rpath="$ORIGIN", runpath="").build())
    assert (found["rpath"], found["runpath"]) == (["$ORIGIN"], [""])


def test_what_cannot_be_edited_is_not_called_dynamic(tmp_path: Path) -> None:
    assert "dynamic" not in facts(tmp_path, Sample(machine=c.EM_AMDGPU).build())
    assert "dynamic" not in facts(tmp_path, Sample(soname="ld-linux-x86-64.so.2").build())
    static = facts(tmp_path, program(".text", b"\xc3"))
    assert "dynamic" not in static
    assert static["refusal"].startswith("there is no dynamic section")
    assert "refusal" not in facts(tmp_path, Sample().build())


class Artifact:
    """An artifact of files in a directory, and the facts about them."""

    def __init__(self, directory: Path, files: dict[str, bytes]) -> None:
        self.directory = directory
        manifest, self.arguments = [], []
        for number, (path, content) in enumerate(files.items()):
            manifest.append({"base": "stage", "path": path, "kind": "file", "mode": "0644", "file": f"x/{path}"})
            (directory / f"f={number}").write_bytes(content)
            self.arguments.append(f"--file=x/{path}={directory}/f={number}")
        manifest.append({"base": "stage", "path": "link", "kind": "link", "target": "a"})
        (directory / "manifest").write_text(json.dumps({"artifact": "a_lib_x", "entries": manifest}), encoding="utf-8")

    def inspect(self) -> int:
        """Run the tool; return its exit code."""
        arguments = ["--label=//:a", "--artifact=a_lib_x", "--unit=a_lib_x/small", *self.arguments]
        return main([*arguments, f"--manifest={self.directory}/manifest", f"--output={self.directory}/facts"])

    @property
    def facts(self) -> Any:
        """Read what it wrote."""
        return json.loads((self.directory / "facts").read_text(encoding="utf-8"))


def test_main_writes_facts_sorted_by_source(tmp_path: Path) -> None:
    artifact = Artifact(tmp_path, {"ï = :": b"#!x", "lib/libsample.so.1": Sample().build(), "a=": b"1", "a=a": b"22"})
    assert artifact.inspect() == 0
    assert (artifact.facts["artifact"], artifact.facts["unit"]) == ("a_lib_x", "a_lib_x/small")
    files = artifact.facts["files"]
    assert list(files) == [f"a_lib_x/stage/{path}" for path in ("a=", "a=a", "lib/libsample.so.1", "ï = :")]
    assert [found["type"] for found in files.values()] == ["data", "data", "elf-library", "script"]
    assert [found["size"] for found in files.values()][:2] == [1, 2]
    first = (tmp_path / "facts").read_bytes()
    artifact.arguments.reverse()
    assert artifact.inspect() == 0
    assert (tmp_path / "facts").read_bytes() == first


def test_a_file_that_is_not_given_is_data(tmp_path: Path) -> None:
    artifact = Artifact(tmp_path, {"a.h": b"int a;", "lib/libsample.so.1": Sample().build()})
    del artifact.arguments[0]
    (tmp_path / "f=0").unlink()
    assert artifact.inspect() == 0
    files = artifact.facts["files"]
    assert files["a_lib_x/stage/a.h"] == {"type": "data"}
    assert files["a_lib_x/stage/lib/libsample.so.1"]["type"] == "elf-library"


def test_an_archive_of_device_code_says_whose_it_is(tmp_path: Path) -> None:
    # {"toc": {"lib/a.so#0": {"gfx90a:xnack+": {}, "gfx1100": {}}, "lib/a.so#1": {"gfx1100": {}}}}
    table = b"\x81\xa3toc\x82\xaalib/a.so#0\x82\xadgfx90a:xnack+\x80\xa7gfx1100\x80\xaalib/a.so#1\x81\xa7gfx1100\x80"
    content = struct.pack("<4sIQ", b"KPAK", 1, 16) + table
    artifact = Artifact(tmp_path, {".kpack/a_lib_x.kpack": content, ".kpack/damaged.kpack": content[:20]})
    assert artifact.inspect() == 0
    whole, damaged = artifact.facts["files"].values()
    assert whole == {"size": len(content), "type": "data", "archive": {"lib/a.so": ["gfx1100", "gfx90a:xnack+"]}}
    assert damaged["device_refusal"].startswith("a_lib_x/stage/.kpack/damaged.kpack: at file offset 0x10")


@pytest.mark.parametrize("size", [4, 15, 63, 200, 700, 1200])
def test_a_truncated_elf_file_is_a_fact(tmp_path: Path, size: int) -> None:
    """A package that excludes it need not care: the plan stops the others."""
    artifact = Artifact(tmp_path, {"lib/libx.so": Sample().build()[:size], "lib/liby.so": Sample().build()})
    assert artifact.inspect() == 0
    damaged, whole = artifact.facts["files"].values()
    assert whole["type"] == "elf-library"
    assert (damaged.pop("size"), damaged.pop("type")) == (size, "elf-damaged")
    (damage,) = damaged.values()
    assert damaged == {"damage": damage}
    assert damage.startswith("a_lib_x/stage/lib/libx.so: at file offset 0x")
    assert f"the file has {size}" in damage


LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n"
NO_LIBRARIES = {
    b"": "an empty file; expected a library, as the name says",
    b"\x7fEL": "neither an ELF file nor a linker script; expected a library, as the name says",
    b"#!/bin/sh\n": "neither an ELF file nor a linker script; expected a library, as the name says",
    b"/* INPUT(x) */": "neither an ELF file nor a linker script; expected a library, as the name says",
    b"INPUTS(x)": "neither an ELF file nor a linker script; expected a library, as the name says",
    LFS_POINTER: "a pointer of Git LFS, not the file that it stands for (`git lfs pull`)",
}


@pytest.mark.parametrize("content", NO_LIBRARIES)
@pytest.mark.parametrize("name", ["libx.so", "libx.so.1", "libx-22git.so.22.0git", "lib64/lib\u00fc v.so.1.2.3"])
def test_what_is_called_like_a_library_and_is_none(content: bytes, name: str, tmp_path: Path) -> None:
    artifact = Artifact(tmp_path, {f"lib/{name}": content})
    assert artifact.inspect() == 0
    (found,) = artifact.facts["files"].values()
    assert found["damage"] == f"a_lib_x/stage/lib/{name}: {NO_LIBRARIES[content]}"


@pytest.mark.parametrize("name", ["libx.so.1-gdb.py", "libx.so.txt", "x.so", "lib.so", "libx.sock", "libx.so.abi.1"])
def test_what_is_not_called_like_a_library_may_be_data(name: str, tmp_path: Path) -> None:
    artifact = Artifact(tmp_path, {f"lib/{name}": b"data"})
    assert artifact.inspect() == 0
    assert [one["type"] for one in artifact.facts["files"].values()] == ["data"]
    assert not any("damage" in one for one in artifact.facts["files"].values())


def test_a_pointer_of_git_lfs_is_no_file_whatever_its_name(tmp_path: Path) -> None:
    assert facts(tmp_path, LFS_POINTER)["damage"].startswith("a_lib_x/stage/file: a pointer of Git LFS")


SCRIPTS = (
    b"INPUT(libx.so.1)",
    b"/* GNU ld script\n   of glibc ** */ /**/\nOUTPUT_FORMAT(elf64-x86-64)\nGROUP ( /lib/libc.so.6 )\n",
    b"\n# A comment\nGROUP\n(x)",
    b'INCLUDE "x.ld"',
    b'/* GNU ld script, made by rules_rocm_python: this library lies elsewhere. */\nINPUT("../x/libx.so.1")\n',
)


@pytest.mark.parametrize("content", SCRIPTS)
def test_linker_scripts_are_called_like_libraries(content: bytes, tmp_path: Path) -> None:
    artifact = Artifact(tmp_path, {"lib/libx.so": content})
    assert artifact.inspect() == 0
    (found,) = artifact.facts["files"].values()
    assert found == {"size": len(content), "type": "data"}


def test_many_comments_take_no_time(tmp_path: Path) -> None:
    artifact = Artifact(tmp_path, {"lib/libx.so": b"/**/ " * 20_000})
    assert artifact.inspect() == 0
    (found,) = artifact.facts["files"].values()
    assert "neither" in found["damage"]


def test_name_in_an_elf_file_that_is_not_utf_8(tmp_path: Path) -> None:
    content = Sample(soname="libXX.so").build().replace(b"libXX.so", b"lib\xff\xfe.so")
    assert facts(tmp_path, content) == {
        "type": "elf-damaged",
        "damage": "a_lib_x/stage/file: at file offset 0x0: a name in the dynamic section is not UTF-8",
    }


def test_debug_information_is_no_library(tmp_path: Path) -> None:
    """It cannot be loaded or run, and has no search path."""
    content = bytearray(Sample(sections=False).build())
    header = read_elf(io.BytesIO(bytes(content)), "x").program_header(c.PT_DYNAMIC)
    assert header
    struct.pack_into("<Q", content, header.position + 32, 0)
    assert facts(tmp_path, bytes(content))["type"] == "elf-debug"


def test_file_that_the_sandbox_hides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    artifact = Artifact(tmp_path, {"a": b""})
    (tmp_path / "f=0").unlink()
    (tmp_path / "f=0").symlink_to(tmp_path / "away")
    assert artifact.inspect() == 1
    assert capsys.readouterr().err == (
        f"ERROR: //:a: a_lib_x/stage/a: {tmp_path}/away is not there for the action. If it is on the machine, the "
        "sandbox hides it: for artifacts below /tmp, set --sandbox_add_mount_pair=/tmp\n"
    )


BUNDLE = bundle([(HOST, b""), *((PREFIX + target, target.encode()) for target in ("gfx1030", "gfx90a:xnack+"))])


@pytest.mark.parametrize("data", [BUNDLE, compressed(BUNDLE)], ids=["plain", "compressed"])
def test_device_code_that_is_a_file_by_itself(tmp_path: Path, data: bytes) -> None:
    assert facts(tmp_path, data) == {"type": "gpu-bundle", "device": {"gfx1030": 7, "gfx90a:xnack+": 13}}
    assert data.startswith(tool.BUNDLE_HEADS)
    assert is_bundle(data[: max(map(len, tool.BUNDLE_HEADS))])


def test_a_damaged_file_of_device_code(tmp_path: Path) -> None:
    found = facts(tmp_path, compressed(BUNDLE)[:40])
    assert found["type"] == "gpu-bundle"
    assert "at file offset 0x8: a compressed bundle of" in found["device_refusal"]


def test_only_headers_of_a_big_file_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "libbig.so"
    path.write_bytes(Sample(soname="libbig.so").build())
    size = 8 << 30
    os.truncate(path, size)
    read: list[int] = []

    class Counting(io.FileIO):
        """A file that remembers how much was read of it."""

        def read(self, size: int | None = -1, /) -> bytes:
            """Read and remember."""
            data = super().read(-1 if size is None else size) or b""
            read.append(len(data))
            return data

    monkeypatch.setattr(tool, "open", Counting, raising=False)
    found = file_facts(str(path), "a_lib_x/stage/libbig.so")
    assert (found["size"], found["soname"]) == (size, "libbig.so")
    assert 0 < sum(read) < 10_000


def test_a_dll_and_a_program_of_windows(tmp_path: Path) -> None:
    """DLLs have no case: facts have lower-case names, each once."""
    imports = (("KERNEL32.dll", ("Sleep",)), ("amdhip64_7.dll", ("hipInit",)), ("kernel32.dll", (3,)))
    library = PeSample(imports=imports, delayed=(("Comgr.dll", ("one",)),)).build()
    assert facts(tmp_path, library) == {
        "type": "pe-library",
        "machine": pe.IMAGE_FILE_MACHINE_AMD64,
        "needed": ["amdhip64_7.dll", "kernel32.dll"],
        "needed_late": ["comgr.dll"],
    }
    tool_of_windows = PeSample(dll=False, imports=(), subsystem=pe.IMAGE_SUBSYSTEM_WINDOWS_GUI).build()
    assert facts(tmp_path, tool_of_windows) == {
        "type": "pe-program",
        "machine": pe.IMAGE_FILE_MACHINE_AMD64,
        "subsystem": pe.IMAGE_SUBSYSTEM_WINDOWS_GUI,
    }


@pytest.mark.parametrize("is_windows", [False, True])
def test_device_code_in_two_bundles(tmp_path: Path, is_windows: bool) -> None:
    both = [(HOST, b""), (f"{PREFIX}gfx942:xnack+", b"more"), (f"{PREFIX}gfx1100", b"code")]
    bundles = [bundle(both), bundle([(HOST, b""), (f"{PREFIX}gfx1100", b"other")])]
    data = windows_library(bundles) if is_windows else FatSample(tuple(map(Part, bundles))).build()
    assert facts(tmp_path, data)["device"] == {"gfx1100": 9, "gfx942:xnack+": 4}


@pytest.mark.parametrize("content", [b"MZ", b"MZ and more text", PeSample().build()[:700]])
def test_what_begins_like_a_pe_image_and_is_none(tmp_path: Path, content: bytes) -> None:
    found = facts(tmp_path, content)
    assert found.pop("damage").startswith("a_lib_x/stage/file: ")
    assert found == {"type": "pe-damaged"}
