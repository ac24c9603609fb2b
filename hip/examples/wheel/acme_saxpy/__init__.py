"""a * x + y, on an AMD GPU."""

from acme_saxpy import _rocm_init

_rocm_init.initialize()  # loads ROCm's libraries, which the module needs

from acme_saxpy._saxpy import saxpy  # noqa: E402

__all__ = ["saxpy"]
