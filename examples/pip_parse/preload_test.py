"""hipBLAS loads, and with it what it needs of another package."""

from pathlib import Path

import rocm_sdk

rocm_sdk.preload_libraries("hipblas")
mapped = Path("/proc/self/maps").read_text(encoding="utf-8")
for library in ("libhipblas.so.3", "libamdhip64.so.7"):
    assert library in mapped, f"{library} is not loaded"
print("loaded hipBLAS from", *{line.split()[-1] for line in mapped.splitlines() if "libhipblas.so.3" in line})
