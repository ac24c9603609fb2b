"""Public face of `rocm_artifact`."""

load("//rules/private:rocm_artifact.bzl", _rocm_artifact = "rocm_artifact")

rocm_artifact = _rocm_artifact
