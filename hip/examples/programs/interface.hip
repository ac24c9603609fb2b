// saxpy for Python's ctypes.
#include "saxpy.h"

extern "C" const char* saxpy_floats(float a, const float* x, float* y, size_t count) {
  std::vector<float> on_x(x, x + count), on_y(y, y + count);
  hipError_t error = saxpy(a, on_x, on_y);
  if (error != hipSuccess) return hipGetErrorString(error);
  std::copy(on_y.begin(), on_y.end(), y);
  return nullptr;
}
