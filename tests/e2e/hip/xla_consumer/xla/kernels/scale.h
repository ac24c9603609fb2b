const char* ScaleError(int* rocm_version);
