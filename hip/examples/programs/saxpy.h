// y = a * x + y, on the GPU.
#pragma once

#include <vector>

#include <hip/hip_runtime.h>

// Returns what the HIP runtime says. `y` is unchanged unless that is hipSuccess.
hipError_t saxpy(float a, const std::vector<float>& x, std::vector<float>& y);
