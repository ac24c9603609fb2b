"""The rule that only ROCm needs: a table of its device code."""

load("//rules/private/rocm:rocm_coverage.bzl", _rocm_coverage = "rocm_coverage")

rocm_coverage = _rocm_coverage
