"""Tests of wheels that another program compressed: what can be joined is joined, the rest is deflated again."""

import hashlib
import json
import tarfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import pytest

from lib.deflate.library import FINAL_BLOCK
from lib.wheel.record import record_text
from lib.wheel.wheel_writer import text_member, write_wheel
from tools.actions.layer.tool import main

SITE = "usr/lib/python3/dist-packages"
INFO = "other-1.0.dist-info"
FILES = {"other/__init__.py": b"x = 1\n" * 50, "other/bulk": bytes(range(256)) * 8000, "other/empty": b""}


def other_wheel(path: Path, files: Mapping[str, bytes] = FILES, method: int = zipfile.ZIP_DEFLATED) -> Path:
    """Write a wheel as other programs do, with the compressor of the standard library."""
    rows = [(name, hashlib.sha256(data).hexdigest(), len(data)) for name, data in files.items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.mkdir("other")
        for name, data in files.items():
            archive.writestr(name, data)
        archive.writestr(f"{INFO}/RECORD", record_text(rows, f"{INFO}/RECORD"))
    return path


def layer(directory: Path, wheel: Path, *options: str) -> int:
    """Make a layer of a wheel."""
    arguments = ["--label=//:layer", f"--wheel={wheel}", f"--layer={directory}/layer"]
    arguments += [f"--descriptor={directory}/descriptor", f"--site-packages={SITE}", "--scripts=usr/local/bin"]
    return main([*arguments, "--python=/usr/bin/python3", *options])


def contents(directory: Path) -> dict[str, bytes]:
    """Return the files of the layer, by path in site-packages."""
    with tarfile.open(directory / "layer") as archive:
        files = ((one.name, archive.extractfile(one)) for one in archive if one.isreg())
        return {name.removeprefix(f"{SITE}/"): file.read() for name, file in files if file}


def recompressed(directory: Path) -> int:
    """Return the number of bytes that were deflated again."""
    return int(json.loads((directory / "descriptor").read_text())["recompressed"])


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_members_of_another_program_are_deflated_again(method: int, tmp_path: Path) -> None:
    wheel = other_wheel(tmp_path / "other-1.0-py3-none-any.whl", method=method)
    assert layer(tmp_path, wheel, "--any-wheel") == 0
    assert FILES.items() <= contents(tmp_path).items()
    # RECORD is among the members; the layer has another one.
    record = zipfile.ZipFile(wheel).getinfo(f"{INFO}/RECORD").file_size
    assert recompressed(tmp_path) == sum(map(len, FILES.values())) + record


def test_members_of_these_rules_are_joined_in_whatever_wheel_they_are(tmp_path: Path) -> None:
    wheel = tmp_path / "other-1.0-py3-none-any.whl"
    with wheel.open("wb") as file:
        write_wheel(file, [text_member(name, data) for name, data in FILES.items()], INFO)
    assert layer(tmp_path, wheel, "--any-wheel") == 0
    assert recompressed(tmp_path) == 0
    as_any = (tmp_path / "layer").read_bytes()
    assert layer(tmp_path, wheel) == 0
    assert (tmp_path / "layer").read_bytes() == as_any


def test_a_stream_that_ends_like_a_final_block_by_chance_is_deflated_again(tmp_path: Path) -> None:
    def deflated(data: bytes) -> bytes:
        compressor = zlib.compressobj(wbits=-15)
        return compressor.compress(data) + compressor.flush()

    texts = (str(number).encode() for number in range(1, 20_000))
    by_chance = {f"other/{data.decode()}": data for data in texts if deflated(data).endswith(FINAL_BLOCK)}
    assert by_chance
    assert layer(tmp_path, other_wheel(tmp_path / "other-1.0-py3-none-any.whl", by_chance), "--any-wheel") == 0
    assert by_chance.items() <= contents(tmp_path).items()
    assert recompressed(tmp_path) > sum(map(len, by_chance.values()))


def test_one_wheel_of_a_directory_is_chosen_by_its_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for target in ("gfx90a", "gfx942"):
        name = f"other-1.0+{target}-py3-none-any.whl"
        other_wheel(tmp_path / "wheels" / target / name, {f"other/{target}.co": target.encode()})
    assert layer(tmp_path, tmp_path / "wheels", "--any-wheel", "--pattern=gfx942/*") == 0
    assert {name for name in contents(tmp_path) if name.endswith(".co")} == {"other/gfx942.co"}
    assert layer(tmp_path, tmp_path / "wheels", "--any-wheel") == 1
    assert capsys.readouterr().err == (
        "ERROR: //:layer: pattern '*' matches 2 of the wheels gfx90a/other-1.0+gfx90a-py3-none-any.whl, "
        "gfx942/other-1.0+gfx942-py3-none-any.whl; expected one. Set `pattern` to match the "
        "wheel that the layer is for\n"
    )


def test_a_file_that_record_denies_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wheel = tmp_path / "other-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("other.py", "x = 2\n")
        digest = hashlib.sha256(b"x = 1\n").hexdigest()
        archive.writestr(f"{INFO}/RECORD", record_text([("other.py", digest, 6)], f"{INFO}/RECORD"))
    assert layer(tmp_path, wheel, "--any-wheel") == 1
    actual = hashlib.sha256(b"x = 2\n").hexdigest()
    assert f"other.py: has the SHA-256 {actual}; expected {digest}" in capsys.readouterr().err


def test_a_damaged_member_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wheel = other_wheel(tmp_path / "other-1.0-py3-none-any.whl")
    content = bytearray(wheel.read_bytes())
    content[content.index(b"other/bulk") + 40] ^= 0xFF
    wheel.write_bytes(content)
    assert layer(tmp_path, wheel, "--any-wheel") == 1
    assert f"ERROR: //:layer: {wheel}: other/bulk: " in capsys.readouterr().err


def test_data_descriptors_and_comments_are_no_damage(tmp_path: Path) -> None:
    wheel = other_wheel(tmp_path / "other-1.0-py3-none-any.whl")
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.comment = b"made by another program"
    assert layer(tmp_path, wheel, "--any-wheel") == 0
