#ifndef ACME_SAXPY_SAXPY_H
#define ACME_SAXPY_SAXPY_H

#include <vector>

// Returns a * x + y, computed on a GPU. Throws std::invalid_argument if the sizes differ, and std::runtime_error with
// the HIP runtime's words if it fails.
std::vector<float> saxpy(float a, const std::vector<float>& x, const std::vector<float>& y);

#endif  // ACME_SAXPY_SAXPY_H
