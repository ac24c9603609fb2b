"""Wheels that others made: split by GPU, or made to use the packages of an SDK."""

load("//rules/private:new_wheels.bzl", _sdk_requiring_wheel = "sdk_requiring_wheel", _sdk_split_wheel = "sdk_split_wheel")

sdk_requiring_wheel = _sdk_requiring_wheel
sdk_split_wheel = _sdk_split_wheel
