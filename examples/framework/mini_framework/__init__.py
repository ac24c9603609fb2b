"""A framework that is linked against ROCm: the first thing it does is to have ROCm's libraries loaded."""

from . import _rocm_init

_rocm_init.initialize()
