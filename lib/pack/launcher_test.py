"""Tests of finishing launchers."""

import io
from pathlib import Path

import pytest

from develop.testing.pe_sample import Sample
from develop.testing.tiny_elf import program
from lib.common.program import ToolError
from lib.elf import constants as c
from lib.pack.stand_ins import PE_SECTION, SECTION, finished_launcher
from lib.pe import constants as pe
from lib.pe.reader import read_pe


def template(directory: Path, content: bytes) -> str:
    path = directory / "launcher"
    path.write_bytes(content)
    return str(path)


def test_the_target_is_all_that_changes(tmp_path: Path) -> None:
    compiled = program(SECTION, bytes(64))
    finished = finished_launcher(template(tmp_path, compiled), "bin/x", "../lib/ï/tool")
    text = b"../lib/\xc3\xaf/tool\0"
    at = compiled.index(bytes(64), 120)
    assert finished == compiled[:at] + text + compiled[at + len(text) :]


def test_a_target_may_fill_the_section_but_not_more(tmp_path: Path) -> None:
    path = template(tmp_path, program(SECTION, bytes(8)))
    assert b"1234567\0" in finished_launcher(path, "bin/x", "1234567")
    with pytest.raises(ToolError) as error:
        finished_launcher(path, "bin/x", "12345678")
    assert str(error.value) == "bin/x: the launcher's target '12345678' takes 9 bytes; at most 8 fit. Shorten the path"


def test_a_launcher_for_another_cpu_is_refused(tmp_path: Path) -> None:
    path = template(tmp_path, program(SECTION, bytes(8)))
    with pytest.raises(ToolError) as error:
        finished_launcher(path, "bin/x", "y", c.EM_AARCH64)
    assert str(error.value) == (
        "bin/x: its launcher is for x86_64, but y, which it starts, is for aarch64; expected one CPU. Set "
        "--platforms to a platform of aarch64, for which launchers are compiled then, or exclude bin/x from the package"
    )
    with pytest.raises(
        ToolError,
        match=r"but y, which it starts, is for e_machine 21; expected one CPU. Exclude bin/x from the package$",
    ):
        finished_launcher(path, "bin/x", "y", 21)
    for machine in (c.EM_X86_64, c.EM_386, None):
        assert finished_launcher(path, "bin/x", "y", machine)


@pytest.mark.parametrize(
    "wrong", [program(".other", bytes(8)), program(SECTION, bytes(8), kind=c.SHT_NOBITS)], ids=["other", "no bytes"]
)
def test_a_program_without_the_section_is_refused(tmp_path: Path, wrong: bytes) -> None:
    path = template(tmp_path, wrong)
    with pytest.raises(ToolError) as error:
        finished_launcher(path, "bin/x", "y")
    assert str(error.value) == f"{path}: no bytes for section .launcher.target; expected the compiled launcher"


def test_what_is_no_program_is_refused(tmp_path: Path) -> None:
    path = template(tmp_path, b"#!/bin/sh\n")
    with pytest.raises(ToolError, match=r"launcher: .*; expected the compiled launcher, an ELF or PE program"):
        finished_launcher(path, "bin/x", "y")


def test_a_launcher_for_windows_gets_target_and_subsystem(tmp_path: Path) -> None:
    compiled = Sample(dll=False, sections=((PE_SECTION, bytes(64)),)).build()
    path = template(tmp_path, compiled)
    finished = finished_launcher(path, "bin/x.exe", "../lib/tool.exe", pe.IMAGE_FILE_MACHINE_AMD64, 2)
    before, after = (read_pe(io.BytesIO(data), "x") for data in (compiled, finished))
    assert (before.subsystem, after.subsystem) == (pe.IMAGE_SUBSYSTEM_WINDOWS_CUI, pe.IMAGE_SUBSYSTEM_WINDOWS_GUI)
    begin = after.sections[-1].begin
    assert finished[begin : begin + 17] == b"../lib/tool.exe\0\0"
    same = finished_launcher(path, "bin/x.exe", "y.exe")
    assert read_pe(io.BytesIO(same), "x").subsystem == before.subsystem


def test_what_a_launcher_for_windows_cannot_start(tmp_path: Path) -> None:
    path = template(tmp_path, Sample(dll=False, sections=((PE_SECTION, bytes(8)),)).build())
    with pytest.raises(ToolError, match=r"is for x86_64, but y, which it starts, is for aarch64; expected one CPU"):
        finished_launcher(path, "bin/x.exe", "y", pe.IMAGE_FILE_MACHINE_ARM64)
    with pytest.raises(ToolError, match="takes 9 bytes; at most 8 fit"):
        finished_launcher(path, "bin/x.exe", "12345678")
    with pytest.raises(ToolError, match=r"no bytes for section \.target; expected the compiled launcher"):
        finished_launcher(template(tmp_path, Sample().build()), "bin/x.exe", "y")
