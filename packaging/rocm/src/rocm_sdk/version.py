"""The version of the packages, for those who want nothing else.

`distributions` knows it too, but what that imports (dataclasses, re, pathlib) takes longer than all the rest of
`rocm-sdk version` and of `rocm_sdk.__version__`.
"""

from __future__ import annotations

import json
import os

from .errors import RocmSdkError

DISTRIBUTIONS_FILE = "_distributions.json"


def read_distributions(directory: str = "") -> str:
    """Return what the build wrote about this package and those that it selects: beside this code, or in `directory`.

    Raises RocmSdkError if this code is in a zip file, where libraries cannot be.
    """
    home = directory or os.path.dirname(__file__)  # noqa: PTH120
    if not os.path.isdir(home):  # noqa: PTH112
        raise RocmSdkError(
            f"{home} is no directory: ROCm's libraries cannot be loaded from a zip file. Install the packages with "
            "pip, or unpack the file"
        )
    with open(os.path.join(home, DISTRIBUTIONS_FILE), encoding="utf-8") as stream:  # noqa: PTH118
        return stream.read()


def read_version() -> str:
    """Return the version of this package and of those that it selects. Raises what `read_distributions` raises."""
    return str(json.loads(read_distributions())["version"])
