"""AMD's name for the development tree: `from rocm_sdk._devel import get_devel_root`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["get_devel_root"]


def get_devel_root(*, force_initialize: bool = False) -> Path:
    """Return the root of the development tree; with `force_initialize`, look at each of its links."""
    from .devel import devel_root

    return devel_root(verify=force_initialize)
