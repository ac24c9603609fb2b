"""AMD's name for the development tree: `from rocm_sdk._devel import get_devel_root`."""

from __future__ import annotations

from .devel import devel_root as get_devel_root

__all__ = ["get_devel_root"]
