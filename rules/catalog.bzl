"""For the repositories that the catalog generates; in a workspace, use `rocm_artifact`."""

load("//rules/private:catalogued_artifact.bzl", _catalogued_artifact = "catalogued_artifact")

catalogued_artifact = _catalogued_artifact
