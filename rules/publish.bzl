"""Public face of `sdk_publish`."""

load("//rules/private:sdk_publish.bzl", _sdk_publish = "sdk_publish")

sdk_publish = _sdk_publish

# The same, by the first names: docs/names.md.
rocm_publish = _sdk_publish
