"""The BUILD file of a prefix, as text."""

from tools.fetch.prefix.build_file import libraries_text
from tools.fetch.prefix.plan import Target

GOLDEN = """filegroup(
    name = "all_headers",
    srcs = glob(
        ["prefix/include/**"],
        allow_empty = True,
    ),
)

rocm_library(
    name = "hip",
    deps = [":hip_host"],
)

rocm_library(
    name = "rocblas",
    hdrs = glob(["prefix/include/rocblas/**"]),
    data = glob(["prefix/lib/rocblas/**"]),
    defines = ["A=\\"b\\""],
    includes = [
        "prefix/include/rocblas",
        "prefix/include",
    ],
    linkopts = ["-ldl"],
    needed = ["prefix/lib/libnuma.so.1"],
    shared_library = "prefix/lib/librocblas.so.5",
    deps = [
        ":a",
        ":hip",
    ],
)

rocm_library(
    name = "strange",
    hdrs = [":all_headers"],
    static_library = "prefix/lib/libstrange.a",
)
"""


def test_text() -> None:
    rocblas = Target(
        "rocblas",
        hdrs=("include/rocblas/**",),
        includes=("include/rocblas", "include"),
        defines=('A="b"',),
        shared_library="lib/librocblas.so.5",
        deps=("hip", "a"),
        linkopts=("-ldl",),
        needed=("lib/libnuma.so.1",),
        data=("lib/rocblas/**",),
    )
    strange = Target("strange", hdrs=(":all_headers",), static_library="lib/libstrange.a")
    assert libraries_text((Target("hip", deps=("hip_host",)), rocblas, strange)) == GOLDEN
