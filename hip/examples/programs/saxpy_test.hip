#include <cstdio>

#include "saxpy.h"

int main() {
  std::vector<float> x(1000, 3), y(1000, 4);
  hipError_t error = saxpy(2, x, y);
  if (error == hipErrorNoDevice) {
    std::puts("no GPU: nothing was computed");
    return 0;
  }
  for (float value : y) {
    if (error != hipSuccess || value != 10) return 1;
  }
}
