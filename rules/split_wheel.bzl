"""Public face of `sdk_split_wheel`."""

load("//rules/private:sdk_split_wheel.bzl", _sdk_split_wheel = "sdk_split_wheel")

sdk_split_wheel = _sdk_split_wheel
