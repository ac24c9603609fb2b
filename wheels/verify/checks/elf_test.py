"""Tests of what counts as wrong in an ELF file's headers."""

import pytest

from lib.elf import constants as c
from lib.elf.model import ElfFile, ProgramHeader
from wheels.verify.checks.elf import layout_faults


@pytest.mark.parametrize(("size", "found"), [(0, []), (8, ["PT_TLS at 0x5000 is in no PT_LOAD segment"])])
def test_thread_local_data_without_bytes_may_be_between_segments(size: int, found: list[str]) -> None:
    """Lld lays .tbss so: libclang_rt.tsan of LLVM 22 is one."""
    load = ProgramHeader(64, c.PT_LOAD, c.PF_R, 0, 0, 0, 0x1000, 0x1000, 0x1000)
    tls = ProgramHeader(120, c.PT_TLS, c.PF_R, 0x5000, 0x5000, 0x5000, size, 0x780, 64)
    headers = (load, tls)
    elf = ElfFile("libtsan.so", 0x6000, 64, True, c.ET_DYN, c.EM_X86_64, 0, 0, program_headers=headers)
    assert list(layout_faults(elf)) == found
