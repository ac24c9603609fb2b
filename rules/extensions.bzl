"""Module extensions: `dependencies` (this module's own), `artifacts` (directories of artifacts), `git` (the commit) and `rocm` (sources of ROCm's)."""

load("//rules/private/repositories:artifacts.bzl", _artifacts = "artifacts")
load("//rules/private/repositories:dependencies.bzl", _dependencies = "dependencies")
load("//rules/private/repositories:git.bzl", _git = "git")
load("//rules/private/rocm:rocm.bzl", _rocm = "rocm")

artifacts = _artifacts
dependencies = _dependencies
git = _git
rocm = _rocm
