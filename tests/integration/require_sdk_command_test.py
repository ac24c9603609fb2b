"""Tests of `require-sdk` as it is run: `_rocm_init.py` of a wheel, and the action's errors."""

import zipfile
from pathlib import Path

import pytest

from develop.testing.elf_sample import Sample as ElfSample
from develop.testing.wheel_sample import Sample
from wheels.require_sdk import action, rocm

FILES = {
    "acme/__init__.py": b"",
    "acme/_ext.so": ElfSample(soname=None, needed=("libhipblas.so.3", "libamdhip64.so.7", "libc.so.6")).build(),
}
SDK = {
    "_rocm_sdk_core/lib/libamdhip64.so.7": ElfSample(soname="libamdhip64.so.7").build(),
    "_rocm_sdk_libraries/lib/libhipblas.so.3": ElfSample(soname="libhipblas.so.3").build(),
}


def arguments(folder: Path, needed: dict[str, bytes]) -> list[str]:
    """Write the wheels; returns the command line."""
    for sample in (Sample(needed, name="acme"), Sample(SDK, name="rocm_sdk_core", version="7.10.0")):
        (folder / sample.filename).write_bytes(sample.build())
    wheel, sdk = sorted(folder.glob("*.whl"))
    return [str(wheel), f"--sdk={sdk}", f"--output={folder / 'out'}", "--init-py=acme"]


def test_the_wheel_gets_a_module_that_loads_what_it_needs(tmp_path: Path) -> None:
    assert rocm.main(arguments(tmp_path, FILES)) == 0
    [path] = (tmp_path / "out").glob("*.whl")
    with zipfile.ZipFile(path) as wheel:
        text = wheel.read("acme/_rocm_init.py").decode()
        metadata = wheel.read("acme-1.0+sdk.7.10.0.0.dist-info/METADATA").decode()
    assert text.index('"amdhip64"') < text.index('"hipblas"')
    assert 'check_version="7.10.0"' in text
    assert "Requires-Dist: rocm==7.10.0\nRequires-Dist: rocm-sdk-core==7.10.0\n" in metadata
    compile(text, "_rocm_init.py", "exec")


def test_libraries_of_this_name_have_their_device_code_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where the selector is not among the wheels, as in projects that name each wheel."""
    line = arguments(tmp_path, FILES)
    whole = Path(line[1].partition("=")[2])
    whole.rename(whole.with_name(whole.name.replace("rocm_sdk_core", "rocm_sdk_libraries")))
    line[1] = line[1].replace("rocm_sdk_core", "rocm_sdk_libraries")
    assert rocm.main(line) == 0
    [path] = (tmp_path / "out").glob("*.whl")
    with zipfile.ZipFile(path) as wheel:
        metadata = wheel.read("acme-1.0+sdk.7.10.0.0.dist-info/METADATA").decode()
    assert "Requires-Dist: rocm[device]==7.10.0\nRequires-Dist: rocm-sdk-libraries==7.10.0\n" in metadata
    assert "rocm is not among --sdk: that it has this extra is not proven" in capsys.readouterr().out


def test_errors_of_an_action_name_the_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = tmp_path / "report.txt"
    more = [
        "--label=//:acme",
        f"--report={report}",
        "--specifier=",
        "--device=",
        "--local-version=",
        "--compression=fast",
    ]
    wheel, *line = arguments(tmp_path, {"acme/__init__.py": b""})
    assert action.main([*more, f"--wheel={wheel}", *line]) == 1
    assert capsys.readouterr().err.startswith("ERROR: //:acme: ")
    assert not report.exists()
    wheel, *line = arguments(tmp_path, FILES)
    assert action.main([*more, f"--wheel={wheel}", *line]) == 0
    assert capsys.readouterr().out == ""
    assert "rocm-sdk-core==7.10.0" in report.read_text()
