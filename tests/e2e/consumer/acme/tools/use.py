"""Uses the installed SDK: its console scripts, its libraries, and its development tree."""

import ctypes
import importlib
import subprocess
import sysconfig
from pathlib import Path

site_packages = Path(sysconfig.get_path("purelib"))


def says(*command: str) -> str:
    """Run a command, whose output is returned."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


assert says("acme-sum", "2", "3", "4") == "acme-sum: 9\n"
assert says("acme-calc", "2", "3", "4") == "acme-calc: 24\n"

# By the name that programs open at run time, which is no file of the SDK's own runtime.
math = ctypes.CDLL(str(site_packages / "_acme_sdk_tools/math/lib64/libacme_math.so"))
math.acme_math_product.restype = ctypes.c_long
assert math.acme_math_product(ctypes.c_long(1000), ctypes.c_long(1000)) == 999999

root = importlib.import_module("acme_sdk_devel").root()
assert (root / "include/sdk/math.h").is_file()
for library in ("math/lib64/libacme_math.so", "runtime/lib64/libacme_base.so"):
    link = root / library
    assert link.is_symlink(), link
    assert link.resolve().is_relative_to(site_packages.resolve()), link.resolve()
    ctypes.CDLL(str(link))
assert says(str(root / "math/bin/acme-sum"), "20", "22") == "acme-sum: 42\n"
