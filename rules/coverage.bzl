"""Public face of `rocm_coverage`."""

load("//rules/private:rocm_coverage.bzl", _rocm_coverage = "rocm_coverage")

rocm_coverage = _rocm_coverage
