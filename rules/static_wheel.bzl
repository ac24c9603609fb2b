"""Public face of `sdk_static_wheel`."""

load("//rules/private:sdk_static_wheel.bzl", _sdk_static_wheel = "sdk_static_wheel")

sdk_static_wheel = _sdk_static_wheel

# The same, by the first names: docs/names.md.
rocm_static_wheel = _sdk_static_wheel
