"""An SDK as Python packages: artifacts, packages, distributions, their index, reports and tests."""

load("//rules/private:sdk_artifact.bzl", _sdk_artifact = "sdk_artifact")
load("//rules/private:sdk_index.bzl", _sdk_index = "sdk_index")
load("//rules/private:sdk_package.bzl", _sdk_gpu_package = "sdk_gpu_package", _sdk_gpu_packages = "sdk_gpu_packages", _sdk_package = "sdk_package")
load("//rules/private:sdk_provenance.bzl", _sdk_provenance = "sdk_provenance")
load("//rules/private:sdk_runtime.bzl", _sdk_runtime = "sdk_runtime")
load("//rules/private:sdk_selector.bzl", _sdk_selector = "sdk_selector")
load("//rules/private:sdk_version.bzl", _sdk_version = "sdk_version")
load("//rules/private:sdk_wheel.bzl", _sdk_reports = "sdk_reports", _sdk_wheel = "sdk_wheel")
load("//rules/private:sdk_wheel_test.bzl", _sdk_install_test = "sdk_install_test", _sdk_wheel_set_test = "sdk_wheel_set_test", _sdk_wheel_test = "sdk_wheel_test", _verify_exception = "verify_exception")
load("//rules/private:small_distributions.bzl", _sdk_sdist = "sdk_sdist", _sdk_static_wheel = "sdk_static_wheel")

sdk_artifact = _sdk_artifact
sdk_gpu_package = _sdk_gpu_package
sdk_gpu_packages = _sdk_gpu_packages
sdk_index = _sdk_index
sdk_install_test = _sdk_install_test
sdk_package = _sdk_package
sdk_provenance = _sdk_provenance
sdk_reports = _sdk_reports
sdk_runtime = _sdk_runtime
sdk_sdist = _sdk_sdist
sdk_selector = _sdk_selector
sdk_static_wheel = _sdk_static_wheel
sdk_version = _sdk_version
sdk_wheel = _sdk_wheel
sdk_wheel_set_test = _sdk_wheel_set_test
sdk_wheel_test = _sdk_wheel_test
verify_exception = _verify_exception
