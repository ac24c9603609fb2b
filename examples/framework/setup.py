"""Builds the wheel. Headers and libraries of ROCm are where `rocm-sdk env` says; nothing here names them."""

import os

from setuptools import Extension, setup

native = Extension("mini_framework._native", ["src/native.c"], libraries=["amdhip64"], py_limited_api=True)

setup(
    name="mini-framework",
    version="1.0",
    packages=["mini_framework"],
    package_data={"mini_framework": ["libmini_blas.so"]},
    ext_modules=[native],
    # Of the version that it was built against.
    install_requires=[f"rocm[libraries]=={os.environ['ROCM_VERSION']}"] if "ROCM_VERSION" in os.environ else [],
    python_requires=">=3.9",
)
