"""The installed package computes on a GPU, or says that there is none."""

import acme_saxpy

try:
    assert acme_saxpy.saxpy(2, [1, 2], [3, 4]) == [5, 8]
except RuntimeError as error:
    assert "no ROCm-capable device" in str(error), error
