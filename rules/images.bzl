"""Container images of an SDK's packages: layers, images, how they are pushed, and where the image's Python has its packages."""

load("//rules/private:sdk_image.bzl", _sdk_image = "sdk_image")
load("//rules/private:sdk_image_layout.bzl", _sdk_image_layout = "sdk_image_layout")
load("//rules/private:sdk_image_push.bzl", _sdk_image_push = "sdk_image_push")
load("//rules/private:sdk_install_scheme.bzl", _sdk_install_scheme = "sdk_install_scheme")
load("//rules/private:sdk_layer.bzl", _sdk_layer = "sdk_layer")
load("//rules/private:sdk_wheel_test.bzl", _sdk_image_test = "sdk_image_test")

sdk_image = _sdk_image
sdk_image_layout = _sdk_image_layout
sdk_image_push = _sdk_image_push
sdk_image_test = _sdk_image_test
sdk_install_scheme = _sdk_install_scheme
sdk_layer = _sdk_layer
