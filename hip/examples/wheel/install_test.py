"""The installed package computes on a GPU, or says that there is none."""

import acme_saxpy

try:
    computed = acme_saxpy.saxpy(2, [1, 2], [3, 4])
except RuntimeError as error:
    if "no ROCm-capable device" not in str(error):
        raise
else:
    assert computed == [5, 8], computed
