"""Names of shared libraries: `libfoo.so`, `libfoo.so.1.2`, `libLLVM.so.23.0git`, `libbar.so.1a`.

    parse_library_name("lib/libLLVM.so.23.0git")  # LibraryName(stem="libLLVM", version="23.0git")

A version stands behind `.so`, and each of its parts begins with a digit. So `libfoo.so.debug`, `libfoo.so.txt` and
`libstdc++.so.6.0.33-gdb.py` are not names of libraries. Programs of the build have a link to this file.
"""

from __future__ import annotations

import posixpath
import re
from typing import NamedTuple

#: What stands behind the stem, as a regular expression.
SUFFIX = r"\.so(?:\.[0-9][A-Za-z0-9_+-]*)*"
_NAME = re.compile(rf"(.+?)({SUFFIX})", re.DOTALL)


class LibraryName(NamedTuple):
    """The parts of a library's name; `version` is empty if it has none."""

    stem: str
    version: str

    @property
    def short(self) -> str:
        """Name for linkers: `foo` for `libfoo.so` (`-lfoo`); empty if the name does not begin with `lib`."""
        return self.stem[len("lib") :] if self.stem.startswith("lib") else ""


def parse_library_name(path: str) -> LibraryName | None:
    """Return the parts of the name that a path ends in; None if it is not the name of a library."""
    match = _NAME.fullmatch(posixpath.basename(path))
    return LibraryName(match[1], match[2][len(".so.") :]) if match else None
