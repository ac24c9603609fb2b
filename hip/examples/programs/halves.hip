// Halves a number with a function of another source.
#include <cstdio>

#include <hip/hip_runtime.h>

__device__ float half_of(float value);

__global__ void halve(float* value) { *value = half_of(*value); }

int main() {
  float* value = nullptr;
  hipError_t error = hipMalloc(&value, sizeof(float));
  if (error == hipSuccess) {
    halve<<<1, 1>>>(value);
    error = hipDeviceSynchronize();
  }
  std::printf("halves: %s\n", hipGetErrorString(error));
  return error == hipSuccess || error == hipErrorNoDevice ? 0 : 1;
}
