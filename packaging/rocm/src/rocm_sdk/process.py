"""Preparing a process for a framework's extension modules: version check and preloading.

A framework ships a generated `_rocm_init.py` whose `initialize()` calls `initialize_process` before it imports any
extension module. Those that were linked without an RPATH to these packages find the SONAMEs that they need already
loaded. `loading` loads libraries, as it does for any SDK; here are the names.
"""

from __future__ import annotations

import ctypes
import os
import re
import warnings
from collections.abc import Sequence

from .distributions import load_distributions
from .libraries import find_by_name, library_directories
from .loading import load_libraries

PRELOAD_VARIABLE = "ROCM_SDK_PRELOAD_LIBRARIES"
# What was asked for, by short name: AMD's `rocm_sdk._ALL_CDLLS`, in which programs look.
_ALL_CDLLS: dict[str, ctypes.CDLL] = {}


def preload_libraries(*shortnames: str, rtld_global: bool = True) -> None:
    """Load the libraries into this process as `load_libraries` does, after the libraries of packages that they need.

    Optional libraries that are not there are passed over. Raises what `find_by_name` and `load_libraries` raise.
    """
    if not shortnames:
        return
    named = find_by_name(*shortnames)
    directories = library_directories(load_distributions())
    loaded = load_libraries([path for _, path in named], directories, rtld_global=rtld_global)
    _ALL_CDLLS.update((name, loaded[path]) for name, path in named)


def initialize_process(
    *,
    preload_shortnames: Sequence[str] | None = None,
    rtld_global: bool = True,
    env_override: bool = True,
    check_version: str | re.Pattern[str] | None = None,
    fail_on_version_mismatch: bool = False,
    **_later: object,
) -> None:
    """Load libraries into this process, then check that the installed ROCm is the expected one.

    `preload_shortnames` are short names of `rocm_sdk.library_table`, `rtld_global` as in `preload_libraries`. With
    `env_override` the environment variable ROCM_SDK_PRELOAD_LIBRARIES may list more, split by `,` or `;`.
    `check_version` is a version in which `*` stands for any characters (`7.10.*`), or a compiled pattern to match from
    the start; a mismatch is a UserWarning, or RuntimeError with `fail_on_version_mismatch`. Other arguments are
    ignored: a framework may be newer than this package. All of this is as in AMD's packages.

    Raises RuntimeError also when a library of the environment variable cannot be loaded, naming the variable.
    """
    preload_libraries(*(preload_shortnames or ()), rtld_global=rtld_global)
    extra = os.environ.get(PRELOAD_VARIABLE, "") if env_override else ""
    try:
        preload_libraries(*split_list(extra), rtld_global=rtld_global)
    except (ImportError, OSError) as error:
        raise RuntimeError(
            f"{PRELOAD_VARIABLE}={extra!r}: {error}. Correct this environment variable, or unset it."
        ) from error
    if check_version is not None:
        _check_version(check_version, load_distributions().version, fail_on_version_mismatch)


def version_matches(pattern: str | re.Pattern[str], version: str) -> bool:
    """Return whether `version` is what `pattern` describes: `*` stands for any characters, all else for itself."""
    if isinstance(pattern, re.Pattern):
        return pattern.match(version) is not None
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), version, re.DOTALL) is not None


def split_list(text: str) -> list[str]:
    """Return the names in a list split by `,` or `;`, without blanks."""
    return [name for name in (part.strip() for part in re.split("[,;]", text)) if name]


def _check_version(pattern: str | re.Pattern[str], version: str, fail: bool) -> None:
    if version_matches(pattern, version):
        return
    expected = pattern.pattern if isinstance(pattern, re.Pattern) else pattern
    message = (
        f"The program was compiled against a ROCm version matching '{expected}' but the installed ROCm version in this "
        f"Python environment is {version}. Install the version of the packages named rocm and rocm-sdk-* that it was "
        "built for."
    )
    if fail:
        raise RuntimeError(message)
    warnings.warn(message, UserWarning, stacklevel=3)
