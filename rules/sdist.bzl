"""Public face of `sdk_sdist`."""

load("//rules/private:sdk_sdist.bzl", _sdk_sdist = "sdk_sdist")

sdk_sdist = _sdk_sdist

# The same, by the first names: docs/names.md.
rocm_sdist = _sdk_sdist
