"""Public face of `sdk_version`, and helpers for rules that use versions and suffixes."""

load("//rules/private:sdk_version.bzl", _KINDS = "KINDS", _sdk_version = "sdk_version")
load("//rules/private/common:pep440.bzl", _normal_form = "normal_form")
load("//rules/private/common:version_suffix.bzl", _VERSION_SUFFIX_ATTRS = "VERSION_SUFFIX_ATTRS", _with_suffix = "with_suffix")

KINDS = _KINDS
VERSION_SUFFIX_ATTRS = _VERSION_SUFFIX_ATTRS
normal_form = _normal_form
sdk_version = _sdk_version
with_suffix = _with_suffix

# The same, by the first names: docs/names.md.
rocm_version = _sdk_version
