#include "saxpy.h"

#include <hip/hip_runtime.h>

#include <memory>
#include <stdexcept>

namespace {

constexpr unsigned block = 256;

__global__ void saxpy_kernel(float a, const float* x, float* y, size_t count) {
  size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < count) y[i] = a * x[i] + y[i];
}

void check(hipError_t error) {
  if (error != hipSuccess) throw std::runtime_error(hipGetErrorString(error));
}

struct Freed {
  void operator()(float* memory) const { (void)hipFree(memory); }
};

}  // namespace

std::vector<float> saxpy(float a, const std::vector<float>& x, const std::vector<float>& y) {
  if (x.size() != y.size()) throw std::invalid_argument("x and y differ in length");
  const size_t count = x.size(), size = count * sizeof(float);
  float* memory = nullptr;
  check(hipMalloc(&memory, 2 * size));
  std::unique_ptr<float, Freed> on_gpu(memory);
  check(hipMemcpy(memory, x.data(), size, hipMemcpyHostToDevice));
  check(hipMemcpy(memory + count, y.data(), size, hipMemcpyHostToDevice));
  saxpy_kernel<<<(count + block - 1) / block, block>>>(a, memory, memory + count, count);
  check(hipGetLastError());
  std::vector<float> result(count);
  check(hipMemcpy(result.data(), memory + count, size, hipMemcpyDeviceToHost));
  return result;
}
