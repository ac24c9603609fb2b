#include "kernels/scale_kernel_lib.cu.h"

hipError_t ScaleOnDevice(float factor, float* values, int count) {
  Scale<float><<<(count + 63) / 64, 64>>>(factor, values, count);
  return hipGetLastError();
}
