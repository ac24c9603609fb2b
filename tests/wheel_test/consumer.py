"""Does what a framework does when it is imported: libraries are loaded before the first extension asks for them."""

import ctypes

import rocm_sdk

rocm_sdk.initialize_process(
    preload_shortnames=["amdhip64", "hipblas"],
    check_version=rocm_sdk.__version__.partition(".")[0] + ".*",
    fail_on_version_mismatch=True,
)
# Loaded already: found by the SONAME alone, which nothing else leads the loader to.
for name in ("libamdhip64.so.7", "libhipblas.so.3"):
    ctypes.CDLL(name)
