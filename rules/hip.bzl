"""HIP programs with Bazel: libraries, programs, tests and wheels with code for AMD's GPUs."""

load("//rules/hip:requires_hip.bzl", _requires_hip = "requires_hip")
load("//rules/private/hip:hip_code_object.bzl", _hip_code_object = "hip_code_object")
load("//rules/private/hip:hip_compile_commands.bzl", _hip_compile_commands = "hip_compile_commands")
load("//rules/private/hip:hip_library.bzl", _hip_library = "hip_library")
load("//rules/private/hip:hip_wheel.bzl", _hip_wheel = "hip_wheel")
load("//rules/private/hip:programs.bzl", _hip_binary = "hip_binary", _hip_test = "hip_test")

hip_binary = _hip_binary
hip_code_object = _hip_code_object
hip_compile_commands = _hip_compile_commands
hip_library = _hip_library
hip_test = _hip_test
hip_wheel = _hip_wheel
requires_hip = _requires_hip
