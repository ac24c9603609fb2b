"""Public face of `sdk_artifact`."""

load("//rules/private:sdk_artifact.bzl", _sdk_artifact = "sdk_artifact")

sdk_artifact = _sdk_artifact

# The same, by the first names: docs/names.md.
rocm_artifact = _sdk_artifact
