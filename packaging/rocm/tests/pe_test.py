"""The reader of what DLLs need: it says what the build's own says, and damage is an error that names the file."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from rocm_sdk.pe import needed_dlls

from develop.testing.pe_sample import Sample
from lib.pe import constants as c
from lib.pe.reader import read_pe

IMPORTS = (("KERNEL32.dll", ("Sleep", 7)), ("amdhip64_7.dll", ("hipInit",)), ("KERNEL32.dll", ("Beep",)))
SAMPLES = {
    "start": Sample(imports=IMPORTS),
    "late": Sample(imports=IMPORTS[:1], delayed=(("rocblas.dll", ("f",)), ("amdhip64_7.dll", ("g",)))),
    "nothing": Sample(imports=()),
    "32 bits": Sample(magic=c.PE32, machine=c.IMAGE_FILE_MACHINE_I386, imports=IMPORTS),
}


def written(directory: Path, data: bytes) -> Path:
    path = directory / "a.dll"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("name", SAMPLES)
def test_it_says_what_the_builds_reader_says(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, SAMPLES[name].build())
    with path.open("rb") as file:
        image = read_pe(file, str(path))
    assert sorted(one.lower() for one in needed_dlls(path)) == sorted({*image.libraries, *image.delayed_libraries})


def test_a_section_may_be_smaller_in_memory_than_in_the_file(tmp_path: Path) -> None:
    """Some linkers write no size in memory at all: then the size in the file counts."""
    data = bytearray(SAMPLES["late"].build())
    at = data.index(b".rdata\0\0") + 8
    data[at : at + 4] = bytes(4)
    assert needed_dlls(written(tmp_path, bytes(data))) == ("KERNEL32.dll", "rocblas.dll", "amdhip64_7.dll")


def test_names_are_in_the_order_of_the_tables(tmp_path: Path) -> None:
    names = needed_dlls(written(tmp_path, SAMPLES["late"].build()))
    assert names == ("KERNEL32.dll", "rocblas.dll", "amdhip64_7.dll")


@pytest.mark.parametrize("data", [b"", b"text", b"\x7fELF and more"])
def test_what_is_no_image_needs_nothing(data: bytes, tmp_path: Path) -> None:
    assert needed_dlls(written(tmp_path, data)) == ()


def test_damage_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    whole = SAMPLES["late"].build()
    chance = random.Random(22)
    damaged = [whole[:size] for size in range(2, len(whole), 37)]
    for _ in range(2000):
        flawed = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            flawed[chance.randrange(2, len(flawed))] = chance.choice((0, 1, 0x7F, 0xFF, chance.randrange(256)))
        damaged.append(bytes(flawed))
    said = []
    for data in damaged:
        try:
            needed_dlls(written(tmp_path, data))
        except ValueError as error:
            said.append(str(error))
    assert len(said) > 100
    expected = f"{tmp_path}/a.dll: damaged PE image, its imports cannot be read ("
    assert [one for one in said if not one.startswith(expected)] == []
