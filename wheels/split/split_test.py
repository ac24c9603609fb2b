"""Fat wheels become thin ones: what they hold, byte by byte."""

import hashlib
import stat
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from packaging.metadata import Metadata

from develop.testing.fat_wheel import FAT, FILES, code, content, library, plain, written
from develop.testing.wheel_sample import Sample, zipped
from lib.common.program import usable_cores
from lib.device.content import code_object_contents
from lib.device.model import DeviceCode
from lib.device.reader import read_device_code
from wheels.split import tool
from wheels.verify.engine import Request, verify
from wheels.verify.finding import Severity

DIST_INFO = "acme-1.0+gfx1100.dist-info"
THIN = "gfx1100/acme-1.0+gfx1100-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"


def split(fat: Path, output: Path, *options: str, targets: str = "gfx1100") -> dict[str, bytes]:
    """Split a wheel; returns the wheels that were written, by path below the output directory."""
    assert tool.main([str(fat), "--targets", targets, "--output", str(output), *options]) == 0
    assert not list(output.rglob(".*"))
    return {str(path.relative_to(output)): path.read_bytes() for path in sorted(output.rglob("*.whl"))}


def codes(data: bytes) -> list[list[tuple[str, bytes]]]:
    """Return the code objects of each bundle of a file, by target."""
    file = BytesIO(data)
    device: DeviceCode = read_device_code(file, "x")
    return [
        [
            (str(one.entry.target), b"".join(chunks))
            for one, chunks in code_object_contents(file, device, bundle)
            if one.size
        ]
        for bundle in device.bundles
    ]


def errors(path: Path) -> set[tuple[str, str]]:
    """Return the errors that rocm-wheels verify finds in wheels."""
    found = verify([path], Request(wheel_set=False, processes=1)).judged.findings
    return {(one.id, one.evidence) for one in found if one.severity is Severity.ERROR}


def test_a_complete_wheel_for_each_target(tmp_path: Path) -> None:
    fat = written(tmp_path)
    wheels = split(fat, tmp_path / "thin", targets="gfx1100,gfx942")
    assert list(wheels) == [THIN, THIN.replace("gfx1100", "gfx942")]
    files = content(tmp_path / "thin" / THIN)
    gone = {"acme/kernels/old.hipfb", "acme/kernels/gfx942/flatmm_gfx9.co", "acme/kernels/Tensile_gfx1030.dat"}
    renamed = {path.replace("acme-1.0.d", "acme-1.0+gfx1100.d") for path in FAT.members()}
    assert set(files) == renamed - gone
    assert list(files)[-1] == f"{DIST_INFO}/RECORD"
    for path in ("acme/lib/libacme.so", "acme/lib/libpacked.so", "acme/kernels/all.hipfb"):
        count = 1 if path.endswith("hipfb") else 2
        assert codes(files[path]) == [[("gfx1100", code("gfx1100"))]] * count
    assert errors(tmp_path / "thin") <= errors(fat)


def test_a_library_that_moves_is_sliced(tmp_path: Path) -> None:
    """The names of .data directories have the version, which is another one."""
    data = {"acme-1.0.data/purelib/libmore.so": library(plain(), plain()), "acme-1.0.data/purelib/more.py": b"x = 1\n"}
    split(written(tmp_path, replace(FAT, files={**FAT.files, **data})), tmp_path / "thin")
    found = content(tmp_path / "thin" / THIN)["acme-1.0+gfx1100.data/purelib/libmore.so"]
    assert codes(found) == [[("gfx1100", code("gfx1100"))]] * 2


def test_what_came_compressed_leaves_compressed(tmp_path: Path) -> None:
    split(written(tmp_path), tmp_path / "thin")
    data = content(tmp_path / "thin" / THIN)["acme/lib/libpacked.so"]
    versions = [
        bundle.compression and bundle.compression.version for bundle in read_device_code(BytesIO(data), "x").bundles
    ]
    assert versions == [2, 3]


def test_all_else_is_copied_as_it_was_deflated(tmp_path: Path) -> None:
    fat = written(tmp_path)
    split(fat, tmp_path / "thin")
    copied = {path: data for path, data in FILES.items() if "/kernels/" not in path and "/lib/" not in path}
    with zipfile.ZipFile(fat) as old, zipfile.ZipFile(tmp_path / "thin" / THIN) as new:
        for path in sorted(copied.keys() - {"acme-1.0.dist-info/METADATA"}):
            before, after = old.getinfo(path), new.getinfo(path.replace("acme-1.0.d", "acme-1.0+gfx1100.d"))
            assert raw(old, before) == raw(new, after)
            assert after.external_attr >> 16 == before.external_attr >> 16
        script = new.getinfo("acme-1.0+gfx1100.data/scripts/acme")
        assert stat.S_IMODE(script.external_attr >> 16) == 0o755


def raw(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Return the bytes of a member as the archive has them."""
    assert archive.fp is not None
    archive.fp.seek(info.header_offset + 26)
    skip = sum(int.from_bytes(archive.fp.read(2), "little") for _ in range(2))
    archive.fp.seek(skip, 1)
    return archive.fp.read(info.compress_size)


def test_metadata_say_what_it_was_made_from(tmp_path: Path) -> None:
    fat = written(tmp_path)
    split(fat, tmp_path / "thin")
    found = Metadata.from_email(content(tmp_path / "thin" / THIN)[f"{DIST_INFO}/METADATA"], validate=True)
    before = Metadata.from_email(FILES["acme-1.0.dist-info/METADATA"], validate=True)
    assert (str(found.version), found.requires_dist) == ("1.0+gfx1100", before.requires_dist)
    digest = hashlib.sha256(fat.read_bytes()).hexdigest()
    assert f"rocm-wheels split from {FAT.filename} (SHA-256 {digest})" in (found.description or "")
    assert "code is for gfx1100 alone" in (found.description or "")


def test_a_family_shares_a_wheel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [path] = split(written(tmp_path), tmp_path / "thin", targets="gfx110X-all")
    assert path.startswith("gfx110x-all/acme-1.0+gfx110x.all-")
    files = content(tmp_path / "thin" / path)
    kept = [(target, code(target)) for target in ("gfx1100", "gfx1101")]
    assert codes(files["acme/lib/libacme.so"]) == [kept, kept]
    said = capsys.readouterr().out
    assert "no code for gfx1102 in acme/kernels/all.hipfb, acme/lib/libacme.so, acme/lib/libpacked.so" in said
    assert "without acme/kernels/Tensile_gfx1030.dat" in said


def test_equal_wheels_give_equal_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other").mkdir()
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    first = split(written(tmp_path), tmp_path / "thin", targets="gfx1100,gfx942")
    monkeypatch.setattr("wheels.common.copying.usable_cores", lambda wanted: usable_cores(wanted) + 3)
    second = split(written(tmp_path / "other"), tmp_path / "deep/er", targets="gfx942,gfx1100")
    assert first == second
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    dated = split(written(tmp_path), tmp_path / "dated")
    with zipfile.ZipFile(BytesIO(dated[THIN])) as archive:
        assert {info.date_time for info in archive.infolist()} == {(2023, 11, 14, 22, 13, 20)}


def test_a_wheel_without_compression_gives_equal_files(tmp_path: Path) -> None:
    deflated = split(written(tmp_path), tmp_path / "thin")[THIN]
    (tmp_path / FAT.filename).write_bytes(zipped(FAT.members(), FAT.modes, deflate=False))
    stored = split(tmp_path / FAT.filename, tmp_path / "other")[THIN]
    (tmp_path / "a.whl").write_bytes(deflated)
    (tmp_path / "b.whl").write_bytes(stored)
    one, other = content(tmp_path / "a.whl"), content(tmp_path / "b.whl")
    made = {f"{DIST_INFO}/METADATA", f"{DIST_INFO}/RECORD"}
    assert {path for path in one if one[path] != other[path]} == made
    assert (tmp_path / "b.whl").stat().st_size < (tmp_path / FAT.filename).stat().st_size / 2


def test_files_can_be_left_whole(tmp_path: Path) -> None:
    split(written(tmp_path), tmp_path / "thin", "--whole=acme/lib/*", "--whole=acme/kernels/old.hipfb")
    files = content(tmp_path / "thin" / THIN)
    for path in ("acme/lib/libacme.so", "acme/lib/libpacked.so", "acme/kernels/old.hipfb"):
        assert files[path] == FILES[path]


def test_archives_of_device_code_pass_through(tmp_path: Path) -> None:
    fat = Sample({"acme/a.so": library(FILES["acme/kernels/all.hipfb"]), "acme/a_gfx942.kpack": b"KPAK?"}, name="acme")
    path = tmp_path / fat.filename
    path.write_bytes(fat.build())
    split(path, tmp_path / "thin")
    [thin] = (tmp_path / "thin").rglob("*.whl")
    assert content(thin)["acme/a_gfx942.kpack"] == b"KPAK?"


def test_a_wheel_that_is_there_is_replaced(tmp_path: Path) -> None:
    fat = written(tmp_path)
    (tmp_path / "thin/gfx1100").mkdir(parents=True)
    (tmp_path / "thin" / THIN).write_bytes(b"old")
    (tmp_path / "thin/notes.txt").write_bytes(b"mine")
    assert split(fat, tmp_path / "thin")[THIN] != b"old"
    assert (tmp_path / "thin/notes.txt").read_bytes() == b"mine"


def test_files_that_are_loaded_by_name_go_with_the_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As PyTorch's wheels have them. A database alone is no code that a GPU can load."""
    names = {
        "": ("lib/rocblas/library/TensileManifest.txt", "lib/aotriton.images/signature", "share/miopen/db/README.txt"),
        "gfx1100": ("lib/rocblas/library/gfx1100/TensileManifest.txt", "lib/aotriton.images/amd-gfx11xx/flash/a.aks2"),
        "gfx942": ("lib/aotriton.images/amd-gfx942/__signature__", "share/miopen/db/gfx942130.HIP.fdb.txt"),
        "gfx908": ("share/miopen/db/gfx908_ConvAsm1x1U_decoder.ktn.model", "share/miopen/db/gfx90878.db.txt"),
    }
    files = {f"torch/{name}": b"x" for named in names.values() for name in named}
    path = written(tmp_path, Sample({**FILES, **files}, name="acme"))
    output = tmp_path / "thin"
    assert tool.main([str(path), "--targets=gfx942,gfx1100", f"--output={output}"]) == 0
    assert "for other GPUs" in capsys.readouterr().out
    for target in ("gfx942", "gfx1100"):
        [thin] = (output / target).glob("*.whl")
        expected = {f"torch/{name}" for name in (*names[""], *names[target])}
        assert {name for name in content(thin) if name.startswith("torch/")} == expected
    assert tool.main([str(path), "--targets=gfx908", f"--output={output}"]) == 1
    assert "no code that gfx908 can load" in capsys.readouterr().err
