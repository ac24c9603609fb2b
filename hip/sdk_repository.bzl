"""Macros for the BUILD file of a repository such as `@rocm`, which `hip.sdk` writes."""

load("//hip/private:hip_targets.bzl", _hip_targets = "hip_targets")
load("//hip/private:hip_toolchain.bzl", _hip_no_toolchain = "hip_no_toolchain", _hip_toolchain = "hip_toolchain")
load("//hip/private:rocm_library.bzl", _rocm_library = "rocm_library", _rocm_program = "rocm_program", _rocm_shared_library = "rocm_shared_library")

hip_no_toolchain = _hip_no_toolchain
hip_targets = _hip_targets
hip_toolchain = _hip_toolchain
rocm_library = _rocm_library
rocm_program = _rocm_program
rocm_shared_library = _rocm_shared_library
