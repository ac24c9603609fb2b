"""Device code outside of the section `.hip_fatbin` is named: it stays whole."""

from pathlib import Path

import pytest

from develop.testing.device_sample import PREFIX, bundle, compressed
from develop.testing.elf_sample import Sample as ElfSample
from develop.testing.fat_wheel import FILES, code_object, library, plain, written
from develop.testing.wheel_sample import Sample
from wheels.common.sound_wheel import read_sound_wheel
from wheels.split import tool
from wheels.verify.device.stray_code import COLLECTOR, stray_code

GFX942, GFX90A, GFX1100 = code_object(0x4C), code_object(0x3F), code_object(0x41)

#: ROCm's libhsa-runtime64 has some without a processor, beside those for 30 GPUs.
RELOCATABLE = code_object(0)[:16] + b"\1\0" + code_object(0)[18:]


def found(folder: Path, path: str, data: bytes) -> list[str]:
    """Return what is said of a wheel with this file."""
    fat = read_sound_wheel(written(folder, Sample({path: data})), collectors=(COLLECTOR,))
    return list(map(str, stray_code(fat.wheel)))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (ElfSample(tail=b"x" + GFX942 + GFX90A + GFX942).build(), ["a/f.so (section .comment: gfx90a, gfx942)"]),
        (ElfSample(tail=code_object(0xFE)).build(), ["a/f.so (section .comment: a GPU that is not known)"]),
        (ElfSample(tail=GFX942 + RELOCATABLE).build(), ["a/f.so (section .comment: gfx942, a GPU that is not known)"]),
        (ElfSample(tail=b"x" + plain(("gfx942", "gfx1030"))).build(), ["a/f.so (section .comment: gfx1030, gfx942)"]),
        (
            ElfSample(tail=compressed(bundle([(PREFIX + "gfx90a:xnack+", b"code")]))).build(),
            ["a/f.so (section .comment: gfx90a:xnack+)"],
        ),
        (library(plain()), []),
        (library(bundle([(PREFIX + "gfx942", GFX942)])), []),
        (library(plain()) + GFX1100, ["a/f.so (gfx1100)"]),
        (ElfSample(tail=b"__CLANG_OFFLOAD_BUNDLE__\0CCOB\0").build(), []),
        (ElfSample(tail=GFX942[:16]).build(), []),
        (ElfSample(tail=ElfSample().build()).build(), []),
        (b"!<arch>\n" + GFX942, ["a/f.so (gfx942)"]),
        (bytes((2 << 20) - 20) + GFX942 + GFX90A + bytes(3 << 20) + GFX1100, ["a/f.so (gfx1100, gfx90a, gfx942)"]),
        (b"text", []),
        (b"", []),
    ],
)
def test_where_device_code_is(data: bytes, expected: list[str], tmp_path: Path) -> None:
    assert found(tmp_path, "a/f.so", data) == expected


@pytest.mark.parametrize("path", ["a/f.co", "a/f.kpack", "a/aotriton.images/amd-gfx942/a.zip"])
def test_files_that_are_device_code_by_their_names(path: str, tmp_path: Path) -> None:
    assert found(tmp_path, path, b"x" + GFX942) == []


def test_it_is_said_and_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stray = ElfSample(tail=GFX942 + GFX90A).build()
    fat = written(tmp_path, Sample({**FILES, "acme/lib/libstray.so": stray}, name="acme"))
    assert tool.main([str(fat), "--targets=gfx1100", f"--output={tmp_path / 'thin'}"]) == 0
    line = "    device code that stays whole: acme/lib/libstray.so (section .comment: gfx90a, gfx942)\n"
    assert capsys.readouterr().out.count("stays whole") == 1
    assert tool.main([str(fat), "--targets=gfx1100", f"--output={tmp_path / 'thin'}"]) == 0
    assert line in capsys.readouterr().out
    assert tool.main([str(fat), "--targets=gfx90a", f"--output={tmp_path / 'thin'}"]) == 1
    said = capsys.readouterr().err
    assert "no code that gfx90a can load; it has code for gfx1030" in said
    assert "; it has code that stays whole: acme/lib/libstray.so (section .comment: gfx90a, gfx942). Leave" in said


def test_a_wheel_that_has_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fat = written(tmp_path, Sample({"acme/lib.so": ElfSample(tail=GFX942).build()}, name="acme"))
    assert tool.main([str(fat), "--targets=gfx942", f"--output={tmp_path / 'thin'}"]) == 1
    said = capsys.readouterr().err
    assert "no device code for AMD GPUs that can be split" in said
    assert "; it has code that stays whole: acme/lib.so (section .comment: gfx942). Use the wheel as it is" in said
