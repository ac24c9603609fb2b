"""Public face of `rocm_wheel`."""

load("//rules/private:rocm_wheel.bzl", _rocm_wheel = "rocm_wheel")

rocm_wheel = _rocm_wheel
