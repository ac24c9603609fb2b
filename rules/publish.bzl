"""Public face of `rocm_publish`."""

load("//rules/private:rocm_publish.bzl", _rocm_publish = "rocm_publish")

rocm_publish = _rocm_publish
