"""A wheel of `sdk_requiring_wheel`, made of a wheel that needs the mini SDK, finds it once both are installed."""

import os
import subprocess
import sys
import zipfile
from email import message_from_bytes
from io import BytesIO
from pathlib import Path

from environment import Environment

from lib.elf.reader import read_elf

REPORT = Path(os.environ["REPORT"])
REQUIRING = Path(os.environ["REQUIRING"])
WHEELS = [Path(path) for path in os.environ["SDK"].split()]
LIBRARY = "mini_framework/libmini_blas.so"
VERSION = "7.10.0.dev0"
LOCAL = "sdk.7.10.0.dev.0"


def made() -> Path:
    (path,) = REQUIRING.glob("*.whl")
    return path


def test_it_requires_the_packages_and_finds_their_libraries() -> None:
    path = made()
    assert path.name == f"mini_framework-1.0+{LOCAL}-py3-none-any.whl"
    with zipfile.ZipFile(path) as wheel:
        library = read_elf(BytesIO(wheel.read(LIBRARY)), LIBRARY)
        metadata = message_from_bytes(wheel.read(f"mini_framework-1.0+{LOCAL}.dist-info/METADATA"))
        text = wheel.read("mini_framework/_rocm_init.py").decode()
    assert library.rpath == "$ORIGIN/../_rocm_sdk_libraries/lib"
    assert metadata.get_all("Requires-Dist") == [f"rocm[device]=={VERSION}", f"rocm-sdk-libraries=={VERSION}"]
    assert '"rocblas"' in text
    assert f'check_version="{VERSION}"' in text


def test_installing_it_brings_device_code(tmp_path: Path) -> None:
    """It required the libraries alone, which have no kernels in this layout."""
    environment = Environment(tmp_path)
    environment.install(str(made()), ROCM_SDK_TARGET_FAMILY="gfx1100")
    has = environment.distributions()
    assert {"mini_framework", "rocm", "rocm_sdk_core", "rocm_sdk_device_gfx1100", "rocm_sdk_libraries"} == has
    assert f"rocm[device]=={VERSION} brings the package for the GPU of the machine" in REPORT.read_text()


def test_the_library_loads_beside_the_packages(tmp_path: Path) -> None:
    for wheel in (made(), *(path for path in WHEELS if path.suffix == ".whl")):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(tmp_path)
    code = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).mini_blas_depth())"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / LIBRARY)], capture_output=True, text=True, check=False
    )
    assert (done.stderr, int(done.stdout or 0) > 1) == ("", True)
