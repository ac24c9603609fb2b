// saxpy for Python's ctypes.
#include <hip/hip_runtime.h>

namespace {

constexpr unsigned block = 256;

__global__ void saxpy_kernel(float a, const float* x, float* y, size_t count) {
  size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < count) y[i] = a * x[i] + y[i];
}

hipError_t compute(float a, const float* x, float* y, size_t count, float* on_gpu) {
  const size_t size = count * sizeof(float);
  if (hipError_t error = hipMemcpy(on_gpu, x, size, hipMemcpyHostToDevice); error != hipSuccess) return error;
  if (hipError_t error = hipMemcpy(on_gpu + count, y, size, hipMemcpyHostToDevice); error != hipSuccess) return error;
  saxpy_kernel<<<(count + block - 1) / block, block>>>(a, on_gpu, on_gpu + count, count);
  if (hipError_t error = hipGetLastError(); error != hipSuccess) return error;
  return hipMemcpy(y, on_gpu + count, size, hipMemcpyDeviceToHost);
}

}  // namespace

// Returns null, or what went wrong.
extern "C" const char* saxpy(float a, const float* x, float* y, size_t count) {
  float* on_gpu = nullptr;
  hipError_t error = hipMalloc(&on_gpu, 2 * count * sizeof(float));
  if (error == hipSuccess) {
    error = compute(a, x, y, count, on_gpu);
    (void)hipFree(on_gpu);
  }
  return error == hipSuccess ? nullptr : hipGetErrorString(error);
}
