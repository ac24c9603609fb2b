"""What is installed is what is tested: nothing beside the script, or where the test runs, is taken for it."""

import zipfile
from pathlib import Path

import pytest

from wheels.verify.install import main

INFO = "greeting-1.0.dist-info"
METADATA = "Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
SCRIPT = """
import pathlib, subprocess, sys
import greeting
print(greeting.WHERE, "in the process;", sys.path[0] == str(pathlib.Path(__file__).parent))
subprocess.run([sys.executable, "-c", "import greeting; print(greeting.WHERE, 'in its child')"], check=True)
sys.exit(greeting.WHERE != "installed")
"""


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """Write a wheel with one module."""
    path = tmp_path / "greeting-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("greeting.py", "WHERE = 'installed'\n")
        archive.writestr(f"{INFO}/METADATA", METADATA)
        archive.writestr(f"{INFO}/WHEEL", WHEEL)
        archive.writestr(f"{INFO}/RECORD", f"greeting.py,,\n{INFO}/METADATA,,\n{INFO}/WHEEL,,\n{INFO}/RECORD,,\n")
    return path


def test_sources_beside_the_script_and_the_test_are_not_imported(
    tmp_path: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As in a module of Bazel's: the script lies beside the sources, and the test runs at the top of the runfiles."""
    top = tmp_path / "sources"
    folder = top / "tests"
    folder.mkdir(parents=True)
    for place in (top, folder):
        (place / "greeting.py").write_text("WHERE = 'source'\n")
        (place / "pip.py").write_text("raise SystemExit('the pip of the sources')\n")
        (place / "venv.py").write_text("raise SystemExit('the venv of the sources')\n")
    (folder / "smoke.py").write_text(SCRIPT)
    (top / "smoke.py").symlink_to(folder / "smoke.py")
    monkeypatch.chdir(top)
    assert main(["--requirement=greeting", "--script=smoke.py", str(wheel)]) == 0, capfd.readouterr().out
    printed = capfd.readouterr().out
    assert "installed in the process; True" in printed
    assert "installed in its child" in printed


@pytest.mark.parametrize("place", [".", "gfx942"])
def test_wheels_of_a_directory_are_found(
    tmp_path: Path, wheel: Path, place: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Split wheels are in a directory for each GPU."""
    (tmp_path / "thin" / place).mkdir(parents=True)
    wheel.rename(tmp_path / "thin" / place / wheel.name)
    assert main(["--requirement=greeting", str(tmp_path / "thin")]) == 0, capfd.readouterr().out
