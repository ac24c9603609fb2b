"""Public face of `rocm_size_report`."""

load("//rules/private:rocm_size_report.bzl", _rocm_size_report = "rocm_size_report")

rocm_size_report = _rocm_size_report
