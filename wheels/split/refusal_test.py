"""Wheels that cannot be split: one message that says why and what to do, and nothing is written."""

import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from develop.testing.device_sample import PREFIX, bundle
from develop.testing.fat_wheel import FAT, FILES, content, library, plain, written
from develop.testing.wheel_sample import Sample, make_record, zipped
from wheels.common import sound_wheel
from wheels.split import tool
from wheels.split.write import write_thin_wheels

RECORD = "acme-1.0.dist-info/RECORD"


def refused(path: Path, output: Path, capsys: pytest.CaptureFixture[str], *options: str, code: int = 1) -> str:
    """Return what the command says; it must fail, and leave nothing behind."""
    if not any(option.startswith("--targets") for option in options):
        options = ("--targets=gfx1100", *options)
    assert tool.main([str(path), "--output", str(output), *options]) == code
    assert not output.exists()
    said = capsys.readouterr()
    assert (said.out, said.err[:19]) == ("", "rocm-wheels split: ")
    return said.err


def wheel(folder: Path, files: dict[str, bytes], record: bytes | None = None) -> Path:
    """Write a wheel with these files added, or replacing others."""
    return written(folder, Sample({**FILES, **files}, name="acme", record=record))


def cut(data: bytes) -> bytes:
    return data[:-30]


def twice(data: bytes) -> bytes:
    output = BytesIO(data)
    with zipfile.ZipFile(output, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("acme/__init__.py", b"x = 2\n")
    return output.getvalue()


def linked(data: bytes) -> bytes:
    del data
    return zipped(FAT.members(), {"acme/gfx1030.py": 0o120777})


def flipped(data: bytes) -> bytes:
    """Change a byte of a stored member: its CRC-32 is wrong."""
    del data
    archive = zipped(FAT.members(), deflate=False)
    return archive.replace(b"x = 1\n", b"x = 2\n")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda _: b"no zip", "W101 not a whole zip archive"),
        (lambda _: b"", "W101"),
        (cut, "W101 not a whole zip archive"),
        (twice, "W102 several members have one name: acme/__init__.py"),
        (linked, "W108 a link or another special file: acme/gfx1030.py"),
        (flipped, "W107 the bytes of a member are damaged: acme/__init__.py"),
    ],
)
def test_damaged_archives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: Callable[[bytes], bytes], message: str
) -> None:
    path = tmp_path / FAT.filename
    path.write_bytes(damage(FAT.build()))
    assert message in refused(path, tmp_path / "thin", capsys)


def lies(old: bytes, new: bytes) -> bytes:
    return make_record(FAT.members(), RECORD).replace(old, new)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (
            make_record({**FAT.members(), "acme/__init__.py": b"x = 2\n"}, RECORD),
            "W204 a file has another size or digest",
        ),
        (
            make_record({**FAT.members(), "acme/__init__.py": b"x = 2\n"}, RECORD, "sha512"),
            "W204 a file has another size or digest",
        ),
        (lies(b"acme/empty.py", b"acme/other.py"), "W203 RECORD lists a file that is not there: acme/other.py"),
        (lies(b",6\n", b",7\n"), "W204 a file has another size or digest than RECORD says: acme/"),
        (b'"', "W201 RECORD is missing or cannot be read"),
    ],
)
def test_records_that_lie(tmp_path: Path, capsys: pytest.CaptureFixture[str], record: bytes, message: str) -> None:
    sample = Sample(FILES, name="acme", tag=FAT.tag, record=record)
    assert message in refused(written(tmp_path, sample), tmp_path / "thin", capsys)


def test_a_record_that_lies_can_be_written_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """AMD's amd-mori has such a RECORD, and pip installs it: the file WHEEL was changed after RECORD was written."""
    record = make_record({**FAT.members(), "acme/__init__.py": b"x = 23\n"}, RECORD)
    path = written(tmp_path, Sample(FILES, name="acme", tag=FAT.tag, record=record))
    assert "--rewrite-record takes the files as they are" in refused(path, tmp_path / "thin", capsys)
    options = ("--targets=gfx1100", "--output", str(tmp_path / "thin"), "--rewrite-record")
    assert tool.main([str(path), *options]) == 0
    said = capsys.readouterr().out
    assert "    RECORD is written anew: acme/__init__.py: RECORD says 7 bytes, the file has 6\n" in said
    [thin] = (tmp_path / "thin").rglob("*.whl")
    files, info = content(thin), "acme-1.0+gfx1100.dist-info"
    own = f"{info}/RECORD"
    assert files[own] == make_record({name: data for name, data in files.items() if name != own}, own)
    assert tool.main([str(written(tmp_path)), *options]) == 0
    assert "RECORD" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("record", "line"),
    [
        (lies(b"acme/empty.py", b"acme/other.py"), "acme/empty.py: RECORD has no line for it"),
        (lies(b"acme/empty.py", b"acme/other.py"), "acme/other.py: RECORD lists it, and the wheel lacks it"),
        (lies(b"acme/__init__.py,sha256=", b"acme/__init__.py,sha256=A"), "acme/__init__.py: RECORD says 'A"),
    ],
)
def test_every_lie_of_a_record_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], record: bytes, line: str
) -> None:
    path = written(tmp_path, Sample(FILES, name="acme", tag=FAT.tag, record=record))
    options = ("--targets=gfx1100", "--output", str(tmp_path / "thin"), "--rewrite-record")
    assert tool.main([str(path), *options]) == 0
    assert f"    RECORD is written anew: {line}" in capsys.readouterr().out


@pytest.mark.parametrize("damage", [b'"', None], ids=["a RECORD that cannot be read", "another fault beside RECORD's"])
def test_other_faults_are_refused_with_rewrite_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: bytes | None
) -> None:
    sample = Sample(FILES, name="acme", tag=FAT.tag, record=damage or lies(b",6\n", b",7\n"))
    path = written(tmp_path, sample)
    if damage is None:
        path.write_bytes(zipped(sample.members(), {"acme/gfx1030.py": 0o120777}))
    said = refused(path, tmp_path / "thin", capsys, "--rewrite-record")
    assert ("W201" if damage else "W108") in said
    assert "--rewrite-record" not in said
    assert "W204" not in said


def test_the_fat_wheel_beside_variants_keeps_its_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, Sample(FILES, name="acme", tag=FAT.tag, record=lies(b",6\n", b",7\n")))
    output = tmp_path / "thin"
    options = ("--targets=gfx1100", "--output", str(output), "--rewrite-record", "--shape=wheel-variants")
    assert tool.main([str(path), *options]) == 0
    assert f"{path.name} is copied unchanged, and keeps the RECORD that is wrong" in capsys.readouterr().out
    assert (output / path.name).read_bytes() == path.read_bytes()


def test_wheels_that_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "thin"
    assert "absent.whl: no such file; expected a wheel" in refused(tmp_path / "absent.whl", output, capsys, code=2)
    assert "is not a wheel; expected a file" in refused(tmp_path, output, capsys, code=2)
    path = tmp_path / "acme.whl"
    path.write_bytes(FAT.build())
    assert "not a wheel's file name; expected NAME-VERSION" in refused(path, output, capsys)
    path = tmp_path / FAT.filename.replace("1.0", "1.1")
    path.write_bytes(FAT.build())
    assert "METADATA says version 1.0, the file name 1.1" in refused(path, output, capsys)
    files = FAT.members()
    del files["acme-1.0.dist-info/WHEEL"], files[RECORD]
    path = tmp_path / FAT.filename
    path.write_bytes(zipped({**files, RECORD: make_record(files, RECORD)}))
    assert "expected acme-1.0.dist-info/WHEEL in the wheel" in refused(path, output, capsys)
    files = {name.replace("acme-1.0.dist-info", "acme.dist-info"): content for name, content in FAT.members().items()}
    del files["acme.dist-info/RECORD"]
    record = "acme.dist-info/RECORD"
    path.write_bytes(zipped({**files, record: make_record(files, record)}))
    assert "acme.dist-info; expected NAME-VERSION.dist-info in the wheel" in refused(path, output, capsys)
    path = wheel(tmp_path, {"acme-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: acme\nVersion: one\n"})
    assert "METADATA says version one" in refused(path, output, capsys)


def test_zip_bombs_are_not_inflated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sound_wheel, "MAX_SMALL", 1 << 20)
    monkeypatch.setattr(sound_wheel, "read_distributions", None)
    path = wheel(tmp_path, {"acme/zeros": bytes(30 << 20)})
    said = refused(path, tmp_path / "thin", capsys)
    assert "that inflate to 31.6 MB; expected 200 times as many at most" in said


@pytest.mark.parametrize(
    ("code", "files", "options", "message"),
    [
        (
            1,
            {},
            ("--targets=gfx942,gfx950",),
            "no code that gfx950 can load; it has code for gfx1030, gfx1031, gfx1100, gfx1101",
        ),
        (2, {}, ("--targets=gfx9999",), "'gfx9999' is not a GPU target or family"),
        (2, {}, ("--targets=gfx942,gfx1109",), "--targets: gfx1109 is an unknown GPU: neither AMD's nor LLVM's"),
        (2, {"acme/s.so": library(plain(("amdgcnspirv",)))}, ("--targets=gfx1109",), "; near it are gfx1"),
        (2, {"acme/K_gfx11.co": b""}, ("--targets=gfx1109",), "has no code for it by name; near it are gfx1"),
        (2, {}, ("--targets=,",), "--targets: names no GPU"),
        (2, {}, ("--whole=nothing/*",), "--whole=nothing/* matches no file of the wheel"),
        (1, {"acme/k.co": b"CCOB\1\0\0\0"}, (), "acme/k.co: its device code cannot be read: at 0x0"),
        (
            1,
            {"acme/k.so": library(bundle([(PREFIX + "gfx1100", b"x"), ("hip-nvptx64-nvidia-cuda--sm_80", b"y")]))},
            (),
            "cannot be sliced: leave the file whole with --whole=acme/k.so",
        ),
    ],
)
def test_device_code_that_is_not_as_asked(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    code: int,
    files: dict[str, bytes],
    options: tuple[str, ...],
    message: str,
) -> None:
    assert message in refused(wheel(tmp_path, files), tmp_path / "thin", capsys, *options, code=code)


def test_a_new_gpu_that_the_wheel_has_code_for(tmp_path: Path) -> None:
    path = wheel(tmp_path, {"acme/new.so": library(plain(("gfx1350",)))})
    assert tool.main([str(path), "--targets=gfx1350", f"--output={tmp_path / 'thin'}"]) == 0


def test_wheels_without_device_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no device code for AMD GPUs that can be split" in refused(
        written(tmp_path, Sample()), tmp_path / "thin", capsys
    )


def test_one_wheel_of_several_that_cannot_be_split(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = written(tmp_path), written(tmp_path, Sample())
    assert tool.main([str(good), str(bad), "--targets=gfx1100", "--output", str(tmp_path / "thin")]) == 1
    assert not (tmp_path / "thin").exists()
    assert tool.main([str(good), str(good), "--targets=gfx1100", "--output", str(tmp_path / "thin")]) == 2
    assert "2 of the wheels would be written to this path" in capsys.readouterr().err


def test_a_wheel_that_changes_meanwhile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path)
    write = write_thin_wheels

    def changed(*arguments: object) -> object:
        path.write_bytes(zipped(FAT.members(), FAT.modes, deflate=False))
        return write(*arguments)  # type: ignore[arg-type]  # as the tool calls it

    monkeypatch.setattr(tool, "write_thin_wheels", changed)
    said = refused(path, tmp_path / "thin", capsys, code=2)
    assert "changed while it was read" in said or "was changed while the wheel was read" in said


def test_an_output_directory_that_cannot_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_bytes(b"")
    path = written(tmp_path)
    assert tool.main([str(path), "--targets=gfx1100", "--output", str(tmp_path / "file")]) == 2
    assert "rocm-wheels split: " in capsys.readouterr().err
