"""Uses the installed SDK: one library brings the libraries of all packages, and the development tree leads to them."""

import ctypes
import sysconfig
from pathlib import Path

import arrow_sdk
import arrow_sdk_devel

SITE_PACKAGES = Path(sysconfig.get_path("purelib")).resolve()


def loaded() -> set[str]:
    """Return the libraries of Arrow that this process has loaded, relative to site-packages."""
    files = {line.split(maxsplit=5)[-1].strip() for line in Path("/proc/self/maps").read_text().splitlines()}
    return {str(Path(file).relative_to(SITE_PACKAGES)) for file in files if "_arrow_sdk_" in file}


found = arrow_sdk.find_library("arrow_dataset")
assert found == SITE_PACKAGES / "_arrow_sdk_dataset/lib/libarrow_dataset.so.2600", found
library = arrow_sdk.load_library("arrow_dataset")
assert loaded() == {
    "_arrow_sdk_compute/lib/libarrow_acero.so.2600",
    "_arrow_sdk_compute/lib/libarrow_compute.so.2600",
    "_arrow_sdk_core/lib/libarrow.so.2600",
    "_arrow_sdk_dataset/lib/libarrow_dataset.so.2600",
    "_arrow_sdk_parquet/lib/libparquet.so.2600",
}, loaded()

# arrow::GetBuildInfo() returns a structure that begins with the version.
build_info = library._ZN5arrow12GetBuildInfoEv
build_info.restype = ctypes.POINTER(ctypes.c_int)
number = build_info()[0]

root = arrow_sdk_devel.root()
assert (root / "include/arrow/api.h").is_file()
assert (root / "lib/libarrow.so.2600").samefile(SITE_PACKAGES / "_arrow_sdk_core/lib/libarrow.so.2600")
print(f"Arrow {number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}")
