"""Tests of loading shared libraries from zip applications: several in one process, each the right one."""

import ctypes.util
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lib.common.shared_library import load_beside

#: Two libraries of the machine; the first one lacks the function of the second one.
LIBRARIES = {"c": "getpid", "m": "cbrt"}
_MAIN = """
import sys, beside
from lib.common.shared_library import load_beside
functions = {functions!r}
loaded = {{name: load_beside("beside", name) for name in functions}}
for name, function in functions.items():
    getattr(loaded[name], function)
print("right")
"""


def _content(name: str) -> bytes:
    """Return the file that this process has loaded for a library."""
    soname = ctypes.util.find_library(name)
    ctypes.CDLL(soname)
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    return Path(next(line.split()[-1] for line in maps if line.endswith(f"/{soname}"))).read_bytes()


def test_two_libraries_of_one_zip_application(tmp_path: Path) -> None:
    """The descriptor of the first one was closed once, and its number, so its path, used for the second one."""
    application = tmp_path / "application.pyz"
    with zipfile.ZipFile(application, "w") as archive:
        for folder in ("tools/", "lib/", "lib/common/"):
            archive.writestr(folder, b"")
        archive.write(str(load_beside.__code__.co_filename), "lib/common/shared_library.py")
        archive.writestr("beside.py", b"")
        archive.writestr("__main__.py", _MAIN.format(functions=LIBRARIES))
        for name in LIBRARIES:
            archive.writestr(name, _content(name))
    done = subprocess.run([sys.executable, "-I", str(application)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "right\n", "")


def test_a_library_that_is_not_there() -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.so: no such library; Bazel builds it"):
        load_beside(__name__, "none.so")
