"""Public face of `sdk_wheel`."""

load("//rules/private:sdk_wheel.bzl", _sdk_wheel = "sdk_wheel")

sdk_wheel = _sdk_wheel

# The same, by the first names: docs/names.md.
rocm_wheel = _sdk_wheel
