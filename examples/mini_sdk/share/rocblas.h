/* The mini SDK's rocBLAS: how many libraries a call goes through. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif
int rocblas_chain(void);
#ifdef __cplusplus
}
#endif
