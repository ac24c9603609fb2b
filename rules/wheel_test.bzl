"""Public face of the rules that test wheels."""

load("//rules/private:sdk_install_test.bzl", _sdk_install_test = "sdk_install_test")
load(
    "//rules/private:sdk_wheel_test.bzl",
    _sdk_wheel_set_test = "sdk_wheel_set_test",
    _sdk_wheel_test = "sdk_wheel_test",
    _verify_exception = "verify_exception",
)

sdk_install_test = _sdk_install_test
sdk_wheel_set_test = _sdk_wheel_set_test
sdk_wheel_test = _sdk_wheel_test
verify_exception = _verify_exception

# The same, by the first names: docs/names.md.
rocm_install_test = _sdk_install_test
rocm_wheel_set_test = _sdk_wheel_set_test
rocm_wheel_test = _sdk_wheel_test
