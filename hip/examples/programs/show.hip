// Prints a result, or why there is none.
#include <cstdio>

#include "saxpy.h"

int main() {
  std::vector<float> x{1, 2, 3}, y{10, 20, 30};
  hipError_t error = saxpy(2, x, y);
  if (error != hipSuccess) {
    std::printf("saxpy: %s\n", hipGetErrorString(error));
    return error == hipErrorNoDevice ? 0 : 1;
  }
  std::printf("saxpy: %g %g %g\n", y[0], y[1], y[2]);
}
