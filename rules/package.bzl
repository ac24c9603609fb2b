"""Public face of `rocm_package`."""

load("//rules/private:rocm_package.bzl", _rocm_package = "rocm_package")

rocm_package = _rocm_package
