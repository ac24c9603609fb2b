"""The ROCm profilers. Their files lie in the directory beside this one; `_cli` has the console scripts."""

from ._version import __version__ as __version__
