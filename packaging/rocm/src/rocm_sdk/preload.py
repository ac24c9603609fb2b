"""Loading the packages' shared libraries into this process before an extension module asks for them.

Extension modules that were linked without an RPATH to these packages call `preload_libraries` (through
`rocm_sdk.initialize_process`): the dynamic loader then finds the SONAMEs that they need already loaded. `loading` loads
them, as it does for any SDK; here are the names.
"""

from __future__ import annotations

import ctypes

from .distributions import load_distributions
from .libraries import find_by_name, library_directories
from .loading import load_libraries

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
