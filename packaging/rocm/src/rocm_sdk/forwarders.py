"""Knowing forwarders: libraries of about 1 KB that stand for a link, which a wheel cannot hold.

`libfoo.so` in a runtime package defines nothing and brings `libfoo.so.1`, for programs that open the unversioned name
at run time. The development tree has links of those names instead, since linkers would take a forwarder for the
library: making the tree and checking it call `is_forwarder`.
"""

from __future__ import annotations

from pathlib import Path

# Content of the section .comment, as the packages' build writes it.
_COMMENT = b"rules_rocm_python forwarder\0"
# Bytes that no forwarder has: its names are the only part that varies, and file names have at most 255 bytes.
_TOO_LARGE = 4096


def is_forwarder(path: Path) -> bool:
    """Return whether the file is a forwarder; raises OSError if it cannot be read."""
    return path.name.endswith(".so") and path.stat().st_size < _TOO_LARGE and _COMMENT in path.read_bytes()
