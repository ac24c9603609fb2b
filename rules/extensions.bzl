"""Module extensions: `dependencies` (the locked tools of this module) and `rocm` (where artifacts come from)."""

load("//rules/private/repositories:dependencies.bzl", _dependencies = "dependencies")
load("//rules/private/repositories:rocm.bzl", _rocm = "rocm")

dependencies = _dependencies
rocm = _rocm
