"""The ELF reader: what it says of libraries, and that damage is an error that names the file."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from fake_sdk import shared_library
from rocm_sdk.elf import Dynamic, is_elf, read_dynamic

from develop.testing.tiny_library import tiny_library

FULL = tiny_library("libb.so.1", ("liba.so.1", "libc.so.6"), "$ORIGIN:${ORIGIN}/../x::/opt")


def write(directory: Path, data: bytes) -> Path:
    path = directory / "file"
    path.write_bytes(data)
    return path


def test_names_are_read(tmp_path: Path) -> None:
    dynamic = read_dynamic(write(tmp_path, FULL))
    assert dynamic is not None
    assert (dynamic.soname, dynamic.needed) == ("libb.so.1", ("liba.so.1", "libc.so.6"))
    assert dynamic.search == ("$ORIGIN", "${ORIGIN}/../x", "", "/opt")
    assert dynamic.directories(Path("/a/lib")) == [Path("/a/lib"), Path("/a/x"), Path("/opt")]


def test_runpath_counts_alone(tmp_path: Path) -> None:
    dynamic = read_dynamic(write(tmp_path, tiny_library("x", rpath="/rpath", runpath="/runpath")))
    assert dynamic is not None
    assert dynamic.search == ("/runpath",)


def test_a_library_without_names(tmp_path: Path) -> None:
    dynamic = read_dynamic(write(tmp_path, tiny_library()))
    assert dynamic is not None
    assert dynamic == Dynamic(dynamic.machine)


def test_a_real_library(tmp_path: Path) -> None:
    dynamic = read_dynamic(write(tmp_path, shared_library()))
    assert dynamic is not None
    assert dynamic.soname == "libm.so.6"
    assert "libc.so.6" in dynamic.needed


ELF32 = b"\x7fELF\1" + FULL[5:]
BIG_ENDIAN = b"\x7fELF\2\2" + FULL[6:]
NO_SEGMENTS = FULL[:56] + b"\0\0" + FULL[58:]


@pytest.mark.parametrize("data", [b"", b"\x7fEL", b"#!/bin/sh\n", ELF32, BIG_ENDIAN, NO_SEGMENTS])
def test_other_files_have_no_dynamic_section(tmp_path: Path, data: bytes) -> None:
    path = write(tmp_path, data)
    assert read_dynamic(path) is None
    assert is_elf(path) == data.startswith(b"\x7fELF")


def test_a_file_that_is_cut_short_anywhere_is_an_error(tmp_path: Path) -> None:
    for length in range(6, len(FULL) - 16):  # the last entry is DT_NULL, which only ends the others
        with pytest.raises(ValueError, match=r"/file: damaged ELF file, its dynamic section cannot be read"):
            read_dynamic(write(tmp_path, FULL[:length]))


def test_any_changed_byte_is_read_or_refused(tmp_path: Path) -> None:
    for at in range(len(FULL)):
        data = bytearray(FULL)
        data[at] ^= 0xFF
        path = write(tmp_path, bytes(data))
        with suppress(ValueError):
            read_dynamic(path)
