"""Names of libraries: what auditwheel made of them, and which of an SDK's libraries a name can stand for.

auditwheel grafts `libhip.so.6.1.4` as `libhip-1a2b3c4d.so.6.1.4`: digits of its SHA-256 stand before the first dot.
"""

import posixpath
import re
from collections.abc import Collection
from typing import Final

#: The file name of a library: its stem, and its version.
_LIBRARY: Final = re.compile(r"(?P<stem>.+?)\.so(?P<version>(?:\.[0-9]+)*)")
_GRAFTED: Final = re.compile(r"([^.]+)-[0-9a-f]{8}(\..+)")


def is_library(path: str) -> bool:
    """Whether a path names a library."""
    return _LIBRARY.fullmatch(posixpath.basename(path)) is not None


def ungrafted(name: str) -> str:
    """Return the name that a library had before auditwheel grafted it; its own if it was not."""
    match = _GRAFTED.fullmatch(name)
    return f"{match[1]}{match[2]}" if match else name


def stem(name: str) -> str:
    """Return what a library is called without its version; all of it for another file."""
    match = _LIBRARY.fullmatch(ungrafted(name))
    return match["stem"] if match else name


def known_as(name: str, known: Collection[str]) -> str | None:
    """Return the name in `known` that a file name stands for: `libhip.so.6` for `libhip-1a2b3c4d.so.6.1.4`.

    Versions are cut off from the end, but never the first number: `libhip.so.6` is not `libhip.so`.
    """
    name = ungrafted(name)
    while name not in known:
        match = _LIBRARY.fullmatch(name)
        if match is None or match["version"].count(".") < 2:
            return None
        name = name.rpartition(".")[0]
    return name
