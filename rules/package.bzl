"""Public face of `sdk_package`."""

load("//rules/private:sdk_package.bzl", _sdk_package = "sdk_package")

sdk_package = _sdk_package

# The same, by the first names: docs/names.md.
rocm_package = _sdk_package
