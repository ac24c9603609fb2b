"""The errors that the runtime raises for conditions a user can put right.

Their text is complete: it says what was expected, what was found and what to do. The command line prints it as it is.
"""

from __future__ import annotations


class RocmSdkError(Exception):
    """Base of the errors that `rocm-sdk` reports without a traceback."""


class TargetError(RocmSdkError, ValueError):
    """A GPU target was asked for that these packages do not offer."""


class DevelError(RocmSdkError):
    """The development tree cannot be made, or not brought up to date."""


class DevelNotInstalledError(DevelError, ModuleNotFoundError):
    """The package that carries the development tree is not installed. AMD's packages raise ModuleNotFoundError."""


class DevelReadOnlyError(DevelError):
    """The development tree needs a change, but its directory cannot be written."""
