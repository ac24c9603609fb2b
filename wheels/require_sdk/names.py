"""Names of libraries: what auditwheel made of them, and which of an SDK's libraries a name can stand for.

auditwheel grafts `libhip.so.6.1.4` as `libhip-1a2b3c4d.so.6.1.4`: digits of its SHA-256 stand before the first dot.
"""

import re
from collections.abc import Collection
from typing import Final

from lib.elf.library_name import parse_library_name

_GRAFTED: Final = re.compile(r"([^.]+)-[0-9a-f]{8}(\..+)")


def ungrafted(name: str) -> str:
    """Return the name that a library had before auditwheel grafted it; its own if it was not."""
    match = _GRAFTED.fullmatch(name)
    return f"{match[1]}{match[2]}" if match else name


def stem(name: str) -> str:
    """Return what a library is called without its version; all of it for another file."""
    library = parse_library_name(ungrafted(name))
    return library.stem if library else name


def known_as(name: str, known: Collection[str]) -> str | None:
    """Return the name in `known` that a file name stands for: `libhip.so.6` for `libhip-1a2b3c4d.so.6.1.4`.

    Versions are cut off from the end, but never the first number: `libhip.so.6` is not `libhip.so`.
    """
    name = ungrafted(name)
    while name not in known:
        library = parse_library_name(name)
        if library is None or "." not in library.version:
            return None
        name = name.rpartition(".")[0]
    return name
