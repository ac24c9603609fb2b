#include <cstdio>

#include "kernels/scale.h"

int main() {
  int rocm_version = 0;
  const char* error = ScaleError(&rocm_version);
  std::printf("%d %s\n", rocm_version, error);
}
