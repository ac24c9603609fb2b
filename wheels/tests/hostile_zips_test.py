"""Archives that readers take for different things: what an installer or the index refuses, rocm-wheels verify reports.

Commands that make wheels of other wheels refuse such an archive, or write a sound one with the same files.
"""

import io
import zipfile
from pathlib import Path

import pytest

from develop.testing.fat_wheel import plain
from develop.testing.framework_wheel import EXPECTS, INIT_PY, sdk
from develop.testing.hostile_zips import KINDS, hostile
from develop.testing.wheel_sample import Sample
from lib.wheel.zip_reader import read_archive
from wheels.require_sdk import tool as require_tool
from wheels.split import tool as split_tool
from wheels.tests.hostile_zips import INDEX, INSTALLERS, SAMPLE, VICTIM, read_answers
from wheels.verify.engine import Request, verify
from wheels.verify.finding import Severity

FAT = Sample({"acme/__init__.py": b"x = 1\n" * 20, "acme/all.hipfb": plain(("gfx1030", "gfx1100"))}, name="acme")
ANSWERS = read_answers()
SOUND = "nothing wrong"


def severities(data: bytes, path: Path) -> set[Severity]:
    path.write_bytes(data)
    return {finding.severity for finding in verify([path], Request(wheel_set=False, processes=1)).judged.findings}


def test_the_table_has_every_kind() -> None:
    assert list(ANSWERS) == list(KINDS)
    assert set(ANSWERS[SOUND].values()) == {"installs", "accepts"}


@pytest.mark.parametrize("kind", KINDS)
def test_what_others_refuse_is_reported(kind: str, tmp_path: Path) -> None:
    path = tmp_path / SAMPLE.filename
    sound = severities(hostile(SOUND, SAMPLE.members(), VICTIM), path)
    found = severities(hostile(kind, SAMPLE.members(), VICTIM), path)
    assert Severity.ERROR not in sound
    if any(ANSWERS[kind][judge] != "installs" for judge in INSTALLERS):
        assert Severity.ERROR in found
    if ANSWERS[kind][INDEX] == "refuses":
        assert found & {Severity.ERROR, Severity.WARNING}


def read_by_zipfile(path: Path | io.BytesIO) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def is_kept(name: str) -> bool:
    """Whether a file is not in a directory whose name has the version."""
    return ".dist-info/" not in name and ".data/" not in name


def check_refused_or_sound(data: bytes, output: Path, code: int, changed: set[str], said: str) -> None:
    """Check what a command made of an archive; `changed` are files that it edits."""
    written = sorted(output.rglob("*.whl"))
    if code:
        assert code == 1
        assert not written
        assert "Traceback" not in said
        return
    assert written
    before = read_by_zipfile(io.BytesIO(data))
    for path in written:
        with path.open("rb") as file:
            assert read_archive(file).troubles == ()
        files = {name: content for name, content in read_by_zipfile(path).items() if is_kept(name)}
        expected = {name: content for name, content in before.items() if is_kept(name)}
        assert {name: files.get(name) for name in expected.keys() - changed} == {
            name: content for name, content in expected.items() if name not in changed
        }


@pytest.mark.parametrize("kind", KINDS)
def test_split_wheel_refuses_or_mends(kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    data, path = hostile(kind, FAT.members(), VICTIM), tmp_path / FAT.filename
    path.write_bytes(data)
    code = split_tool.main([str(path), "--targets=gfx1100", "--output", str(tmp_path / "out")])
    check_refused_or_sound(data, tmp_path / "out", code, {"acme/all.hipfb"}, capfd.readouterr().err)


@pytest.mark.parametrize("kind", KINDS)
def test_require_sdk_refuses_or_mends(kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    data, path = hostile(kind, EXPECTS.members(), VICTIM), tmp_path / EXPECTS.filename
    path.write_bytes(data)
    options = [f"--sdk={sdk(tmp_path)}", "--output", str(tmp_path / "out"), "--externals=libdrm.so.2"]
    code = require_tool.main([str(path), *options[:3]], INIT_PY)
    changed = {name for name in EXPECTS.files if name.endswith(".so")} | {VICTIM}
    check_refused_or_sound(data, tmp_path / "out", code, changed, capfd.readouterr().err)
