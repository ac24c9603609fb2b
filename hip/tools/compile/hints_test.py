"""Tests of what messages of clang mean. hip.tests.e2e.mistakes has the messages of a real one."""

import pytest

from hip.tools.compile.hints import hint

HEADERS = {"hipblas": "@rocm//:hipblas", "thrust": "@rocm//:rocthrust"}


@pytest.mark.parametrize(
    ("messages", "beginning"),
    [
        (
            "a.cu:1:10: fatal error: 'cuda_runtime.h' file not found\n",
            "cuda_runtime.h is a header of CUDA; expected HIP's",
        ),
        ("a.cu:1:10: fatal error: 'cublas_v2.h' file not found\n", "cublas_v2.h is a header of CUDA"),
        (
            "warning: x\nlld: error: undefined hidden symbol: half_of(float)\n>>> referenced by a.hip\n",
            "device code calls half_of(float), which its source does not define; expected it in the same source. ",
        ),
        (
            "a.hip:1:10: fatal error: 'thrust/sort.h' file not found\n",
            "thrust/sort.h is a header of the SDK; expected its library, @rocm//:rocthrust, in `deps`. Add it",
        ),
        ("a.hip:1:10: fatal error: 'hipblas' file not found\n", ""),
        ("a.hip:1:10: fatal error: 'custom.h' file not found\n", ""),
        ("a.hip:1:10: fatal error: 'nvtx/nvtx.h' file not found\n", ""),
        ("", ""),
    ],
)
def test_hints(messages: str, beginning: str) -> None:
    assert hint(messages, HEADERS).startswith(beginning)
    assert bool(hint(messages, HEADERS)) == bool(beginning)
