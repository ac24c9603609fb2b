"""Tests of the tool for wheels of small files."""

import configparser
import hashlib
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from packaging.metadata import Metadata

from tools.actions.static_wheel.tool import main

NAME = "rocm-7.10.0-py3-none-any.whl"
PROJECT = {
    "distribution": "rocm",
    "version": "7.10.0",
    "summary": "S",
    "requires": ["rocm-sdk-core==7.10.0"],
    "requires_python": ">=3.9",
    "license_expression": "Apache-2.0",
    "license_files": ["LICENSE"],
}
FILES = {"rocm_sdk/__init__.py": b"X = 1\n", "rocm_sdk/py.typed": b"", "{dist_info}/licenses/LICENSE": b"text\n"}
EXTRAS = ["devel=rocm-sdk-devel==7.10.0", "device-all=a==7.10.0", "device-all=b==7.10.0"]


def build(
    directory: Path, version: str = "7.10.0", extras: list[str] = EXTRAS, name: str = NAME, options: Iterable[str] = ()
) -> int:
    directory.mkdir()
    arguments = ["--label=//:rocm", f"--wheel={directory}/{name}", "--console-script=rocm-sdk=rocm_sdk.cli:main"]
    arguments += options
    arguments += [f"--{name}={directory}/{name}" for name in ("project", "description", "metadata", "digest")]
    arguments += [f"--extra={extra}" for extra in extras]
    (directory / "project").write_text(json.dumps(PROJECT | {"version": version}))
    (directory / "description").write_text("# Readme ï\n", encoding="utf-8")
    for number, (name, content) in enumerate(FILES.items()):
        (directory / str(number)).write_bytes(content)
        arguments.append(f"--file={name}={directory}/{number}")
    return main(arguments)


def contents(directory: Path, name: str = NAME) -> dict[str, bytes]:
    with zipfile.ZipFile(directory / name) as wheel:
        assert wheel.testzip() is None
        return {name: wheel.read(name) for name in wheel.namelist()}


def test_it_holds_the_files_and_says_so(tmp_path: Path) -> None:
    assert build(tmp_path / "a") == 0
    found = contents(tmp_path / "a")
    info = "rocm-7.10.0.dist-info"
    assert list(found) == [
        "rocm_sdk/__init__.py",
        "rocm_sdk/py.typed",
        f"{info}/METADATA",
        f"{info}/WHEEL",
        f"{info}/entry_points.txt",
        f"{info}/licenses/LICENSE",
        f"{info}/RECORD",
    ]
    assert found["rocm_sdk/__init__.py"] == b"X = 1\n"
    assert b"Root-Is-Purelib: true\nTag: py3-none-any\n" in found[f"{info}/WHEEL"]
    scripts = configparser.ConfigParser()
    scripts.read_string(found[f"{info}/entry_points.txt"].decode())
    assert dict(scripts["console_scripts"]) == {"rocm-sdk": "rocm_sdk.cli:main"}


def test_requirements_and_extras_are_fixed(tmp_path: Path) -> None:
    assert build(tmp_path / "a") == 0
    metadata = contents(tmp_path / "a")["rocm-7.10.0.dist-info/METADATA"]
    assert (tmp_path / "a/metadata").read_bytes() == metadata
    parsed = Metadata.from_email(metadata, validate=True)
    assert (parsed.provides_extra, parsed.dynamic) == (["devel", "device-all"], None)
    assert [str(requirement) for requirement in parsed.requires_dist or []] == [
        "rocm-sdk-core==7.10.0",
        'rocm-sdk-devel==7.10.0; extra == "devel"',
        'a==7.10.0; extra == "device-all"',
        'b==7.10.0; extra == "device-all"',
    ]
    assert parsed.description == "# Readme ï\n"


def test_a_marker_of_a_requirement_stays(tmp_path: Path) -> None:
    assert build(tmp_path / "a", extras=["x=a; python_version < '3.11' or os_name == 'nt'"]) == 0
    parsed = Metadata.from_email((tmp_path / "a/metadata").read_bytes(), validate=True)
    assert str((parsed.requires_dist or [])[1]) == ('a; (python_version < "3.11" or os_name == "nt") and extra == "x"')


def test_what_is_no_requirement_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build(tmp_path / "a", extras=["x=a b"]) == 1
    assert capsys.readouterr().err.startswith("ERROR: //:rocm: rocm: extra x requires 'a b'; expected a requirement: ")


def test_wheel_unpacks_it_and_finds_it_whole(tmp_path: Path) -> None:
    assert build(tmp_path / "a") == 0
    command = [sys.executable, "-m", "wheel", "unpack", f"--dest={tmp_path}/out", str(tmp_path / "a" / NAME)]
    subprocess.run(command, check=True, capture_output=True)
    assert (tmp_path / "out/rocm-7.10.0/rocm_sdk/__init__.py").read_bytes() == b"X = 1\n"


def test_the_same_bytes_again(tmp_path: Path) -> None:
    assert build(tmp_path / "a") == build(tmp_path / "b") == 0
    first, second = ((tmp_path / name / NAME).read_bytes() for name in ("a", "b"))
    assert first == second
    digest = json.loads((tmp_path / "a/digest").read_text())
    assert digest == {"filename": NAME, "size": len(first), "sha256": hashlib.sha256(first).hexdigest()}


def test_a_version_that_is_none_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert build(tmp_path / "a", version="7.10.x") == 1
    assert capsys.readouterr().err.startswith("ERROR: //:rocm: rocm: '7.10.x' is not a version that PEP 440 knows")


def test_a_wheel_variant_says_for_which_gpus_it_is(tmp_path: Path) -> None:
    name = NAME.replace(".whl", "-gfx110x_all.whl")
    options = [f"--variant={tmp_path}/a/variant", "--variant-target=gfx1101", "--variant-target=gfx1100"]
    assert build(tmp_path / "a", name=name, options=options) == build(tmp_path / "b") == 0
    found, plain = contents(tmp_path / "a", name), contents(tmp_path / "b")
    path = "rocm-7.10.0.dist-info/variant.json"
    assert found.keys() - plain.keys() == {path}
    assert json.loads(found[path])["variants"] == {"gfx110x_all": {"amd": {"gfx_arch": ["gfx1100", "gfx1101"]}}}
    assert (tmp_path / "a/variant").read_bytes() == found[path]
    assert b"rocm-7.10.0.dist-info/variant.json,sha256=" in found["rocm-7.10.0.dist-info/RECORD"]
    assert (tmp_path / "a/metadata").read_bytes() == (tmp_path / "b/metadata").read_bytes()


def test_a_label_that_is_none_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = [f"--variant={tmp_path}/a/variant", "--variant-target=gfx1101"]
    assert build(tmp_path / "a", name=NAME.replace(".whl", "-GFX.whl"), options=options) == 1
    assert capsys.readouterr().err.startswith("ERROR: //:rocm: variant: the variant label 'GFX' is not valid; expected")


def test_a_wheel_with_compiled_files_is_for_its_platform(tmp_path: Path) -> None:
    name = "rocm-7.10.0-py3-none-linux_x86_64.whl"
    assert build(tmp_path / "a", name=name) == 0
    wheel = contents(tmp_path / "a", name)["rocm-7.10.0.dist-info/WHEEL"].decode()
    assert "Tag: py3-none-linux_x86_64\n" in wheel
    assert "Root-Is-Purelib: false\n" in wheel
