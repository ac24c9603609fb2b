"""The version of the packages, for those who want nothing else.

`distributions` knows it too, but what that imports (dataclasses, re, pathlib) takes longer than all the rest of
`rocm-sdk version` and of `rocm_sdk.__version__`.
"""

from __future__ import annotations

import json
import os

DISTRIBUTIONS_FILE = "_distributions.json"


def read_version() -> str:
    """Return the version of this package and of those that it selects, which the build wrote beside this code."""
    with open(os.path.join(os.path.dirname(__file__), DISTRIBUTIONS_FILE), encoding="utf-8") as stream:  # noqa: PTH118, PTH120
        return str(json.load(stream)["version"])
