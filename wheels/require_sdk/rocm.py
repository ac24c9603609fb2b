"""The command `require-sdk`, which gives a wheel `_rocm_init.py` if that is asked for.

    rocm-wheels require-sdk WHEEL --sdk PATH… --output DIR [--init-py PACKAGE] …

`tool` does the work, for any SDK. This module says which module loads ROCm's libraries: `rocm_sdk` makes it.
"""

from collections.abc import Sequence

from rocm_sdk.init_py import init_py_text
from rocm_sdk.library_table import LIBRARIES

from wheels.require_sdk import tool
from wheels.require_sdk.device import InitPy


def init_py(needed: Sequence[str], version: str | None) -> str:
    """Return the source of `_rocm_init.py` for a wheel that needs these libraries; None accepts any version."""
    named = (name for name, library in LIBRARIES.items() if any(map(library.is_named, needed)))
    return init_py_text(list(named), version, fail_on_version_mismatch=False)


#: In other layouts than split, the name of the libraries' package ends with a target or family.
INIT_PY = InitPy("_rocm_init.py", "rocm", init_py, libraries="rocm-sdk-libraries")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    return tool.main(argv, INIT_PY)
