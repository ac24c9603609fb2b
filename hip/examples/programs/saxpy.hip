#include "saxpy.h"

#include <memory>

namespace {

constexpr unsigned block = 256;

__global__ void saxpy_kernel(float a, const float* x, float* y, size_t count) {
  size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < count) y[i] = a * x[i] + y[i];
}

struct Free {
  void operator()(float* memory) const { (void)hipFree(memory); }
};
using Memory = std::unique_ptr<float, Free>;

hipError_t copied(const std::vector<float>& values, Memory& memory) {
  float* raw = nullptr;
  hipError_t error = hipMalloc(&raw, values.size() * sizeof(float));
  memory.reset(raw);
  if (error != hipSuccess) return error;
  return hipMemcpy(raw, values.data(), values.size() * sizeof(float), hipMemcpyHostToDevice);
}

}  // namespace

hipError_t saxpy(float a, const std::vector<float>& x, std::vector<float>& y) {
  Memory on_x, on_y;
  if (hipError_t error = copied(x, on_x); error != hipSuccess) return error;
  if (hipError_t error = copied(y, on_y); error != hipSuccess) return error;
  saxpy_kernel<<<(y.size() + block - 1) / block, block>>>(a, on_x.get(), on_y.get(), y.size());
  if (hipError_t error = hipGetLastError(); error != hipSuccess) return error;
  return hipMemcpy(y.data(), on_y.get(), y.size() * sizeof(float), hipMemcpyDeviceToHost);
}
