#include "kernels/scale.h"

#include "rocm/include/hip/hip_runtime.h"
#include "rocm/rocm_config.h"

hipError_t ScaleOnDevice(float factor, float* values, int count);

const char* ScaleError(int* rocm_version) {
  *rocm_version = TF_ROCM_VERSION;
  return hipGetErrorName(ScaleOnDevice(2, nullptr, 1));
}
