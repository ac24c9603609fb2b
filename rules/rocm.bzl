"""What only ROCm has: device code of GPUs, packages sliced by it, and the module that loads its libraries."""

load("//rules/private/rocm:rocm_coverage.bzl", _rocm_coverage = "rocm_coverage")
load("//rules/private/rocm:rocm_init_py.bzl", _rocm_init_py = "rocm_init_py")
load("//rules/private/rocm:rocm_thin_packages.bzl", _rocm_thin_package = "rocm_thin_package", _rocm_thin_packages = "rocm_thin_packages")

rocm_coverage = _rocm_coverage
rocm_init_py = _rocm_init_py
rocm_thin_package = _rocm_thin_package
rocm_thin_packages = _rocm_thin_packages
