"""Public face of `rocm_init_py`."""

load("//rules/private:rocm_init_py.bzl", _rocm_init_py = "rocm_init_py")

rocm_init_py = _rocm_init_py
