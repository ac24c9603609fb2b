"""Public face of `rocm_version`, and helpers for rules that use versions and suffixes."""

load("//rules/private:rocm_version.bzl", _KINDS = "KINDS", _rocm_version = "rocm_version")
load("//rules/private:version_suffix.bzl", _VERSION_SUFFIX_ATTRS = "VERSION_SUFFIX_ATTRS", _with_suffix = "with_suffix")
load("//rules/private/common:pep440.bzl", _normal_form = "normal_form")

KINDS = _KINDS
VERSION_SUFFIX_ATTRS = _VERSION_SUFFIX_ATTRS
normal_form = _normal_form
rocm_version = _rocm_version
with_suffix = _with_suffix
