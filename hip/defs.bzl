"""HIP programs with Bazel: libraries, programs, tests and wheels with code for AMD's GPUs."""

load("//hip/private:hip_compile_commands.bzl", _hip_compile_commands = "hip_compile_commands")
load("//hip/private:hip_library.bzl", _hip_library = "hip_library")
load("//hip/private:hip_toolchain.bzl", _requires_hip = "requires_hip")
load("//hip/private:hip_wheel.bzl", _hip_wheel = "hip_wheel")
load("//hip/private:programs.bzl", _hip_binary = "hip_binary", _hip_code_object = "hip_code_object", _hip_test = "hip_test")

hip_binary = _hip_binary
hip_code_object = _hip_code_object
hip_compile_commands = _hip_compile_commands
hip_library = _hip_library
hip_test = _hip_test
hip_wheel = _hip_wheel
requires_hip = _requires_hip
