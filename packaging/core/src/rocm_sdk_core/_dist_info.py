"""AMD's second place for `rocm_sdk._dist_info`, which the package `rocm` has."""

from rocm_sdk._dist_info import (
    ALL_LIBRARIES,
    ALL_PACKAGES,
    AVAILABLE_TARGET_FAMILIES,
    DEFAULT_TARGET_FAMILY,
    LINUX_TARGET_FAMILIES,
    PY_PACKAGE_SUFFIX_NONCE,
    WINDOWS_TARGET_FAMILIES,
    __version__,
    architectural_family,
    canonical_target,
    determine_target_family,
    discover_current_target_family,
    get_target_family_platform_marker,
    group_package_targets,
    ownership_data,
    package_owner,
)

__all__ = [
    "ALL_LIBRARIES",
    "ALL_PACKAGES",
    "AVAILABLE_TARGET_FAMILIES",
    "DEFAULT_TARGET_FAMILY",
    "LINUX_TARGET_FAMILIES",
    "PY_PACKAGE_SUFFIX_NONCE",
    "WINDOWS_TARGET_FAMILIES",
    "__version__",
    "architectural_family",
    "canonical_target",
    "determine_target_family",
    "discover_current_target_family",
    "get_target_family_platform_marker",
    "group_package_targets",
    "ownership_data",
    "package_owner",
]
