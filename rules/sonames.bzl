"""Public face of `sdk_sonames`."""

load("//rules/private:sdk_sonames.bzl", _sdk_sonames = "sdk_sonames")

sdk_sonames = _sdk_sonames
