"""AMD's second place for `rocm_sdk._dist_info`, which the package `rocm` has."""

from rocm_sdk._dist_info import (
    ALL_LIBRARIES,
    ALL_PACKAGES,
    AVAILABLE_TARGET_FAMILIES,
    DEFAULT_TARGET_FAMILY,
    PY_PACKAGE_SUFFIX_NONCE,
    __version__,
    determine_target_family,
    discover_current_target_family,
)

__all__ = [
    "ALL_LIBRARIES",
    "ALL_PACKAGES",
    "AVAILABLE_TARGET_FAMILIES",
    "DEFAULT_TARGET_FAMILY",
    "PY_PACKAGE_SUFFIX_NONCE",
    "__version__",
    "determine_target_family",
    "discover_current_target_family",
]
