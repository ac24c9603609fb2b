"""Which libraries the system brings, so that no package has to."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Final

from tools.actions.platform_tag.policy import promises
from tools.lib.common.program import ToolError
from verify.over_set.model import Package
from verify.settings import Settings

#: What every Linux system of glibc has: glibc's own libraries, and the runtimes of GCC that manylinux counts on.
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


def system_names(package: Package, settings: Settings) -> Callable[[str], bool]:
    """Return what tells the names of libraries that there are wherever a package is installed.

    Those are the above, those that the settings name, and those that the package's tag may count on (PEP 600).
    """
    patterns = (*SYSTEM_LIBRARIES, *settings.system_libraries)
    policies = []
    for platform in sorted({tag.platform for tag in package.tags}):
        try:
            policies += [promise.policy for promise in promises(platform) if promise.policy is not None]
        except ToolError:
            continue  # Of another system than glibc's.
    return lambda name: (
        any(fnmatchcase(name, pattern) for pattern in patterns)
        or (bool(policies) and all(policy.has_library(name) for policy in policies))
    )
