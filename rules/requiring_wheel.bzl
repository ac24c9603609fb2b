"""Public face of `sdk_requiring_wheel`."""

load("//rules/private:sdk_requiring_wheel.bzl", _sdk_requiring_wheel = "sdk_requiring_wheel")

sdk_requiring_wheel = _sdk_requiring_wheel
