"""The libraries that every Linux system of glibc has: no package of an SDK has to bring them."""

from fnmatch import fnmatchcase
from typing import Final

#: glibc's own libraries, and the runtimes of GCC that manylinux counts on.
SYSTEM_LIBRARIES: Final = (
    "ld-linux*.so.*",
    "libBrokenLocale.so.1",
    "libanl.so.1",
    "libc.so.6",
    "libdl.so.2",
    "libgcc_s.so.1",
    "libm.so.6",
    "libmvec.so.1",
    "libnsl.so.1",
    "libnss_*.so.2",
    "libpthread.so.0",
    "libresolv.so.2",
    "librt.so.1",
    "libstdc++.so.6",
    "libthread_db.so.1",
    "libutil.so.1",
)


def is_system_library(name: str) -> bool:
    """Whether every system has the library, by its SONAME."""
    return any(fnmatchcase(name, pattern) for pattern in SYSTEM_LIBRARIES)
