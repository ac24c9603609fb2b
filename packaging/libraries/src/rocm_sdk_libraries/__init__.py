"""The ROCm libraries. Their files lie in the directory beside this one; `rocm_sdk.find_libraries` tells their paths."""
