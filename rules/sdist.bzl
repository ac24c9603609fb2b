"""Public face of `rocm_sdist`."""

load("//rules/private:rocm_sdist.bzl", _rocm_sdist = "rocm_sdist")

rocm_sdist = _rocm_sdist
