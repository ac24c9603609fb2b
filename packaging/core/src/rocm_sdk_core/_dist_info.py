"""AMD's second place for `rocm_sdk._dist_info`, which the package `rocm` has."""

from rocm_sdk._dist_info import *  # noqa: F403
from rocm_sdk._dist_info import __version__ as __version__
