"""Public face of `sdk_reports`."""

load("//rules/private:sdk_reports.bzl", _sdk_reports = "sdk_reports")

sdk_reports = _sdk_reports
