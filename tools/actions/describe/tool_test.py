"""What an index needs of wheels that others made is read out of them."""

import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from develop.testing.wheel_sample import METADATA, Sample, zipped
from lib.common.program import ToolError
from tools.actions.describe.tool import main, read_metadata

ACME = Sample(name="acme", tag="py3-none-any")


def described(folder: Path, wheels: Path, *more: str) -> dict[str, bytes]:
    """Run the tool, which has to succeed; returns the files of its directory."""
    output = folder / "described"
    assert main(["--label=//:acme", f"--wheels={wheels}", f"--output={output}", *more]) == 0
    return {path.name: path.read_bytes() for path in output.iterdir()}


def refused(folder: Path, wheels: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Run the tool, which has to fail; returns what it says."""
    assert main(["--label=//:acme", f"--wheels={wheels}", f"--output={folder / 'described'}"]) == 1
    return capsys.readouterr().err


def written(folder: Path, sample: Sample) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / sample.filename
    path.write_bytes(sample.build())
    return path


def test_a_wheel(tmp_path: Path) -> None:
    path = written(tmp_path, ACME)
    found = described(tmp_path, path)
    assert found.keys() == {f"{ACME.filename}.digest.json", f"{ACME.filename}.metadata"}
    assert found[f"{ACME.filename}.metadata"] == METADATA.format(name="acme", version="1.0").encode()
    digest = {"filename": ACME.filename, "size": path.stat().st_size}
    digest["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    assert json.loads(found[f"{ACME.filename}.digest.json"]) == digest


def test_the_true_name_of_a_wheel_is_in_its_name_file(tmp_path: Path) -> None:
    """rules_python stamps versions when it builds: the file of the build has another name."""
    path = written(tmp_path, ACME).rename(tmp_path / "acme-_BUILD_VERSION_-py3-none-any.whl")
    (tmp_path / "name").write_text(f"{ACME.filename}\n")
    found = described(tmp_path, path, f"--name-file={tmp_path / 'name'}")
    assert json.loads(found[f"{ACME.filename}.digest.json"])["filename"] == ACME.filename


def test_a_directory_of_split_wheels(tmp_path: Path) -> None:
    thin = [Sample(name="acme", version=f"1.0+{target}") for target in ("gfx942", "gfx1100")]
    for sample in thin:
        (tmp_path / "thin").mkdir(exist_ok=True)
        written(tmp_path / "thin" / sample.version.partition("+")[2], sample)
    found = described(tmp_path, tmp_path / "thin")
    assert found.keys() == {f"{one.filename}{end}" for one in thin for end in (".digest.json", ".metadata")}


def test_wheel_variants_are_an_index_already(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path / "thin", ACME)
    (tmp_path / "thin/acme-1.0-variants.json").write_text("{}")
    assert 'with shape = "local-versions"' in refused(tmp_path, tmp_path / "thin", capsys)


def test_a_directory_without_wheels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thin").mkdir()
    assert "contains no wheel (*.whl); expected one at least" in refused(tmp_path, tmp_path / "thin", capsys)


def test_two_wheels_of_one_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "other"):
        (tmp_path / "thin").mkdir(exist_ok=True)
        written(tmp_path / "thin" / name, ACME)
    assert "has the same name; expected one file with this name" in refused(tmp_path, tmp_path / "thin", capsys)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no archive", "expected a wheel, which is a zip archive"),
        (zipped({"acme/__init__.py": b""}), "expected one NAME-VERSION.dist-info/METADATA of a usual size; found none"),
        (
            zipped({"a-1.dist-info/METADATA": b"", "b-1.dist-info/METADATA": b""}),
            "found a-1.dist-info/METADATA, b-1.dist-info/METADATA",
        ),
        (zipped({"acme-1.0.dist-info/METADATA": bytes((16 << 20) + 1)}), "of a usual size"),
    ],
)
def test_what_is_no_wheel(content: bytes, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / ACME.filename
    path.write_bytes(content)
    said = refused(tmp_path, path, capsys)
    assert said.startswith(f"ERROR: //:acme: {ACME.filename}: ")
    assert message in said


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_each_damaged_byte_is_noticed_or_harmless(method: int, tmp_path: Path) -> None:
    path = tmp_path / ACME.filename
    with zipfile.ZipFile(path, "w", compression=method) as archive:
        archive.writestr("acme-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n" * 3)
    whole = path.read_bytes()
    outcomes = set()
    for at in range(len(whole)):
        for mask in (0x01, 0x80, 0xFF):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ mask]) + whole[at + 1 :])
            try:
                read_metadata(path, "acme")
            except ToolError as error:
                outcomes.add(str(error)[:5])
            else:
                outcomes.add("read")
    assert outcomes == {"acme:", "read"}
