"""Tests of the program that assembles every other tool."""

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

BUILDER = Path(__file__).parent / "zip_application.py"


def build(directory: Path, name: str) -> Path:
    sources = directory / "src"
    sources.mkdir(exist_ok=True)
    (sources / "program.py").write_text(
        "from helper import VALUE\nimport deep.below.module\n\ndef main(argv):\n    print(VALUE, argv)\n    return 3\n"
    )
    (sources / "helper.py").write_text("VALUE = 'ï'\n")
    output = directory / name
    lines = [
        f"--output={output}",
        "--main=program",
        "--import-root=pypi_helper/site-packages",
        f"_main/program.py={sources}/program.py",
        f"_main/deep/below/module.py={sources}/helper.py",
        f"pypi_helper/site-packages/helper.py={sources}/helper.py",
    ]
    params = directory / "params"
    params.write_text("\n".join(lines) + "\n")
    subprocess.run([sys.executable, "-I", "-S", "-B", BUILDER, f"@{params}"], check=True)
    return output


def test_runs_and_passes_arguments_and_exit_code(tmp_path: Path) -> None:
    archive = build(tmp_path, "tool.pyz")
    result = subprocess.run(
        [sys.executable, "-I", "-S", archive, "a", "b"], capture_output=True, text=True, encoding="utf-8"
    )
    assert (result.returncode, result.stderr) == (3, "")
    assert result.stdout.strip() == "ï ['a', 'b']"


def test_an_old_interpreter_gets_one_line(tmp_path: Path) -> None:
    """Instead of the traceback of the first thing that it does not know."""
    archive = build(tmp_path, "tool.pyz")
    old = "import runpy, sys; sys.version_info = (3, 10, 4); sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0])"
    result = subprocess.run([sys.executable, "-I", "-S", "-c", old, archive], capture_output=True, text=True)
    expected = (
        f"{archive}: needs Python 3.11 or newer, and {sys.executable} is Python 3.10.4. Run it with a newer one\n"
    )
    assert (result.returncode, result.stdout, result.stderr) == (1, "", expected)


def test_modules_are_compiled_and_importable_from_their_root(tmp_path: Path) -> None:
    with zipfile.ZipFile(build(tmp_path, "tool.pyz")) as archive:
        assert archive.namelist() == [
            "deep/",
            "deep/below/",
            "__main__.py",
            "deep/below/module.py",
            "deep/below/module.pyc",
            "helper.py",
            "helper.pyc",
            "program.py",
            "program.pyc",
        ]
        assert {info.date_time[0] for info in archive.infolist()} == {1980}


def test_same_bytes_again(tmp_path: Path) -> None:
    first, second = build(tmp_path, "a.pyz"), build(tmp_path, "b.pyz")
    assert hashlib.sha256(first.read_bytes()).digest() == hashlib.sha256(second.read_bytes()).digest()
