"""Public face of `catalogued_artifact`, for the repositories that the catalog generates."""

load("//rules/private:sdk_artifact.bzl", _catalogued_artifact = "catalogued_artifact")

catalogued_artifact = _catalogued_artifact
