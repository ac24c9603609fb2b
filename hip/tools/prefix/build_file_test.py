"""The BUILD file of a prefix, as text."""

from hip.tools.prefix.build_file import libraries_text
from hip.tools.prefix.plan import Target

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
    data_for = {
        "gfx1100": [
            "gfx11-generic",
            "gfx1100",
        ],
        "gfx90a": ["gfx90a"],
    },
    defines = ["A=\\"b\\""],
    includes = [
        "prefix/include/rocblas",
        "prefix/include",
    ],
    linkopts = ["-ldl"],
    needed = [":lib/libnuma.so.1"],
    shared_library = ":lib/librocblas.so.5",
    targets = ":targets",
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

rocm_shared_library(
    name = "lib/libnuma.so.1",
    library = "prefix/lib/libnuma.so.1",
    visibility = ["//visibility:private"],
)

rocm_shared_library(
    name = "lib/librocblas.so.5",
    library = "prefix/lib/librocblas.so.5",
    targets = ":targets",
    visibility = ["//visibility:private"],
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
        data_for={"gfx1100": ("gfx11-generic", "gfx1100"), "gfx90a": ("gfx90a",)},
    )
    strange = Target("strange", hdrs=(":all_headers",), static_library="lib/libstrange.a")
    targets = (Target("hip", deps=("hip_host",)), rocblas, strange)
    assert libraries_text(targets, {"lib/libnuma.so.1": False, "lib/librocblas.so.5": True}) == GOLDEN
