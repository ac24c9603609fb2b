"""The packages that were installed can be imported, and know where their files are."""

import ctypes
import sys
import sysconfig
from pathlib import Path

import rocm_sdk

site_packages = Path(sysconfig.get_path("purelib"))
found = rocm_sdk.find_libraries("amdhip64", "hiprtc", "hipblas", "hiprand")
assert len(found) == 4, found
for path in found:
    assert path.is_relative_to(site_packages), f"{path} is not in {site_packages}"
    ctypes.CDLL(str(path))
assert not any(name.startswith("_rocm_sdk_devel") for name in sys.modules)
