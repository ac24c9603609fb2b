"""The ROCm libraries. Their files lie in the directory beside this one; `rocm_sdk.find_libraries` tells their paths."""

from ._version import __version__ as __version__
