"""Container images of an SDK's packages: layers, images, and where the image's Python has its packages."""

load("//rules/private:sdk_image_layout.bzl", _sdk_image_layout = "sdk_image_layout")
load("//rules/private:sdk_layer.bzl", _sdk_install_scheme = "sdk_install_scheme", _sdk_layer = "sdk_layer")

sdk_image_layout = _sdk_image_layout
sdk_install_scheme = _sdk_install_scheme
sdk_layer = _sdk_layer
