"""The command line: its help teaches, and its exit code says how it ended."""

import errno
import os
import zipfile
from pathlib import Path

import pytest

from develop.testing.fat_wheel import FAT, written
from develop.testing.wheel_sample import Sample
from lib.common.program import size_text
from lib.wheel.variant_format import DRAFT
from wheels.split import tool


def test_the_help_has_examples_shapes_and_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        tool.main(["--help"])
    said = capsys.readouterr().out
    parts = ("examples:\n", "shapes:\n", "exit code:\n", "rocm-wheels split acme-1.0", DRAFT)
    for part in parts:
        assert part in said


def test_an_interrupted_run_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("wheels.common.copying.write_wheel", interrupted)
    assert tool.main([str(written(tmp_path)), "--targets=gfx942", f"--output={tmp_path / 'thin'}"]) == 130
    assert capsys.readouterr().err == "rocm-wheels split: interrupted; what is there is whole\n"
    assert not (tmp_path / "thin").exists()


def full(*arguments: object) -> None:
    del arguments
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wheels.common.copying.write_wheel", full)
    output = tmp_path / "thin"
    assert tool.main([str(written(tmp_path)), "--targets=gfx942,gfx1100", f"--output={output}"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"rocm-wheels split: {output}: No space left on device; ")
    assert said.count("\n") == 1
    assert not output.exists()


def test_sizes_before_and_after(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fat, thin = written(tmp_path), tmp_path / "thin"
    assert tool.main([str(fat), f"--output={thin}", "--targets=gfx942"]) == 0
    [path] = thin.rglob("*.whl")

    def sizes(wheel: Path) -> list[int]:
        with zipfile.ZipFile(wheel) as archive:
            return [wheel.stat().st_size, sum(len(archive.read(name)) for name in archive.namelist())]

    before, after = sizes(fat), sizes(path)
    parts = [f"{size_text(now)} ({100 * now / then:.0f}%)" for now, then in zip(after, before, strict=True)]
    said = capsys.readouterr().out.splitlines()
    assert f"{FAT.filename}: {size_text(before[0])}, installed {size_text(before[1])}" in said
    assert f"  gfx942/{path.name}: {parts[0]}, installed {parts[1]}" in said
    assert after[1] < before[1]


@pytest.mark.parametrize(
    ("options", "place", "message"),
    [
        (("--targets=gfx1100,gfx942",), "gfx942/{thin}", "is a directory; expected a file or nothing"),
        (("--targets=gfx1100,gfx942", "--shape=wheel-variants"), FAT.filename, "is a directory; expected a file"),
    ],
)
def test_a_directory_in_the_place_of_a_file_is_refused_before_anything_is_written(
    options: tuple[str, ...], place: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "thin"
    path = output / place.format(thin=FAT.filename.replace("-1.0-", "-1.0+gfx942-"))
    path.mkdir(parents=True)
    before = sorted(output.rglob("*"))
    assert tool.main([str(written(tmp_path)), f"--output={output}", *options]) == 2
    assert f"rocm-wheels split: {path}: {message}" in capsys.readouterr().err
    assert sorted(output.rglob("*")) == before


def test_a_file_in_the_place_of_a_folder_is_refused_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thin").mkdir()
    (tmp_path / "thin/gfx942").write_text("")
    assert tool.main([str(written(tmp_path)), f"--output={tmp_path / 'thin'}", "--targets=gfx1100,gfx942"]) == 2
    assert "gfx942: is a file; expected a directory or nothing" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "thin").iterdir()] == ["gfx942"]


def test_a_signature_of_the_old_record_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, Sample({**FAT.files, "acme-1.0.dist-info/RECORD.jws": b"{}"}, name="acme"))
    assert tool.main([str(path), "--targets=gfx1100", f"--output={tmp_path / 'thin'}"]) == 0
    assert "    without acme-1.0.dist-info/RECORD.jws, which signs the old RECORD\n" in capsys.readouterr().out
    [thin] = (tmp_path / "thin").rglob("*.whl")
    with zipfile.ZipFile(thin) as archive:
        assert not any(name.endswith(".jws") for name in archive.namelist())
        assert b".jws" not in archive.read("acme-1.0+gfx1100.dist-info/RECORD")
