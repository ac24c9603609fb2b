#include "rocm/include/hip/hip_runtime.h"

template <typename Value>
__global__ void Scale(Value factor, Value* values, int count) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count) values[at] *= factor;
}
