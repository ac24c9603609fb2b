"""Public face of the rules that test wheels."""

load("//rules/private:rocm_install_test.bzl", _rocm_install_test = "rocm_install_test")
load(
    "//rules/private:rocm_wheel_test.bzl",
    _rocm_wheel_set_test = "rocm_wheel_set_test",
    _rocm_wheel_test = "rocm_wheel_test",
    _verify_exception = "verify_exception",
)

rocm_install_test = _rocm_install_test
rocm_wheel_set_test = _rocm_wheel_set_test
rocm_wheel_test = _rocm_wheel_test
verify_exception = _verify_exception
