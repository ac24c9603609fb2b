"""Public face of `sdk_index`."""

load("//rules/private:sdk_index.bzl", _sdk_index = "sdk_index")

sdk_index = _sdk_index

# The same, by the first names: docs/names.md.
rocm_index = _sdk_index
