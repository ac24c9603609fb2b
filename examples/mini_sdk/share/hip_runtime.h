/* The mini SDK's HIP: how many libraries a call goes through. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif
int amdhip64_chain(void);
#ifdef __cplusplus
}
#endif
