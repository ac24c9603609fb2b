"""Layers of container images with an SDK's packages, and where the image's Python has its packages."""

load("//rules/private:sdk_layer.bzl", _sdk_install_scheme = "sdk_install_scheme", _sdk_layer = "sdk_layer")

sdk_install_scheme = _sdk_install_scheme
sdk_layer = _sdk_layer
