"""The links of the ROCm development tree, which `rocm-sdk path --root` makes in the tree beside this package."""

from ._version import __version__ as __version__
