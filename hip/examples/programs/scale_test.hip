#include <cstdio>
#include <hip/hip_runtime.h>

// The argument is the file with the device code.
int main(int, char **words) {
  hipModule_t code;
  hipFunction_t scale;
  hipError_t error = hipModuleLoad(&code, words[1]);
  if (error == hipErrorNoDevice) {
    std::puts("no GPU: nothing was loaded");
    return 0;
  }
  return error || hipModuleGetFunction(&scale, code, "scale");
}
