"""Rules that only ROCm needs: a table of its device code, and the module that loads its libraries."""

load("//rules/private/rocm:rocm_coverage.bzl", _rocm_coverage = "rocm_coverage")
load("//rules/private/rocm:rocm_init_py.bzl", _rocm_init_py = "rocm_init_py")

rocm_coverage = _rocm_coverage
rocm_init_py = _rocm_init_py
