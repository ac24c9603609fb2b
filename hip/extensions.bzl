"""The module extension `hip`: the ROCm SDKs that compile HIP programs."""

load("//hip/private:extension.bzl", _hip = "hip")

hip = _hip
