"""For rules that work with the rules of HIP: their providers and the toolchain."""

load("//hip/private:hip_toolchain.bzl", _HIP_TOOLCHAIN_ATTRS = "HIP_TOOLCHAIN_ATTRS", _find_hip_toolchain = "find_hip_toolchain", _use_hip_toolchain = "use_hip_toolchain")
load("//hip/private:providers.bzl", _HipInfo = "HipInfo", _HipToolchainInfo = "HipToolchainInfo")

find_hip_toolchain = _find_hip_toolchain
HIP_TOOLCHAIN_ATTRS = _HIP_TOOLCHAIN_ATTRS
HipInfo = _HipInfo
HipToolchainInfo = _HipToolchainInfo
use_hip_toolchain = _use_hip_toolchain
