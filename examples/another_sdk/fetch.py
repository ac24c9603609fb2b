"""Fetches Apache Arrow, and lays it out as artifacts: `python3 fetch.py`.

PyPI's wheel has libraries and headers in one directory. Two artifacts are made of them; its licence texts go into every
wheel:

    artifacts/arrow_lib_generic/stage/lib/libarrow.so.2600
    artifacts/arrow_dev_generic/stage/include/arrow/api.h
    licenses/LICENSE.txt
"""

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ARTIFACTS = HERE / "artifacts"
LICENSES = HERE / "licenses"
PIP = ("-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps", "--only-binary=:all:")
WHEEL = ("--platform=manylinux_2_28_x86_64", "--python-version=3.12", "--implementation=cp")


def place(name: str) -> Path | None:
    """Return where a member of the wheel goes; None if the SDK does not need it."""
    folder, _, path = name.partition("/")
    if folder.endswith(".dist-info"):
        return LICENSES / Path(path).name if path.startswith("licenses/") else None
    if path.startswith("include/"):
        return ARTIFACTS / "arrow_dev_generic/stage" / path
    is_library = path.startswith("lib") and ".so." in path and "python" not in path
    return ARTIFACTS / "arrow_lib_generic/stage/lib" / path if is_library else None


def main() -> None:
    """Fetch the wheel, and lay its files out."""
    for directory in (ARTIFACTS, LICENSES):
        shutil.rmtree(directory, ignore_errors=True)
    with tempfile.TemporaryDirectory() as downloads:
        locked = ("--require-hashes", f"--requirement={HERE / 'requirements.txt'}", f"--dest={downloads}")
        subprocess.run([sys.executable, *PIP, *WHEEL, *locked], check=True)
        (wheel,) = Path(downloads).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.infolist():
                target = None if member.is_dir() else place(member.filename)
                if target:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(archive.read(member))
    for artifact in ARTIFACTS.iterdir():
        (artifact / "artifact_manifest.txt").write_text("stage\n")


if __name__ == "__main__":
    main()
