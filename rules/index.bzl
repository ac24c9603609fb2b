"""Public face of `rocm_index`."""

load("//rules/private:rocm_index.bzl", _rocm_index = "rocm_index")

rocm_index = _rocm_index
