"""Public face of `rocm_static_wheel`."""

load("//rules/private:rocm_static_wheel.bzl", _rocm_static_wheel = "rocm_static_wheel")

rocm_static_wheel = _rocm_static_wheel
