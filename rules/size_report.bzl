"""Public face of `sdk_size_report`."""

load("//rules/private:sdk_size_report.bzl", _sdk_size_report = "sdk_size_report")

sdk_size_report = _sdk_size_report

# The same, by the first names: docs/names.md.
rocm_size_report = _sdk_size_report
