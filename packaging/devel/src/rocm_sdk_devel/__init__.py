"""The archive of the ROCm development tree. `rocm-sdk path --root` unpacks it beside this package and tells where."""

from ._version import __version__ as __version__
