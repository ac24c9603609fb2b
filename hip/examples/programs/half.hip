#include <hip/hip_runtime.h>

__device__ float half_of(float value) { return value / 2; }
