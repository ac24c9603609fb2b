/* A library of the framework: how many libraries a call through rocBLAS goes through. */
#include <rocblas/rocblas.h>

__attribute__((visibility("default"))) int mini_blas_depth(void) { return 1 + rocblas_chain(); }
