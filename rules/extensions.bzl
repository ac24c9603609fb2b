"""Module extensions: `dependencies` (the locked tools of this module) and `rocm` (where artifacts come from)."""

load("//rules/private/repositories:catalog.bzl", _rocm = "rocm")
load("//rules/private/repositories:dependencies.bzl", _dependencies = "dependencies")

dependencies = _dependencies
rocm = _rocm
