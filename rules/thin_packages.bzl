"""Public face of `rocm_thin_packages` and `rocm_thin_package`."""

load("//rules/private:rocm_thin_packages.bzl", _rocm_thin_package = "rocm_thin_package", _rocm_thin_packages = "rocm_thin_packages")

rocm_thin_package = _rocm_thin_package
rocm_thin_packages = _rocm_thin_packages
