# Written when this repository was fetched. XLA's .bazelrc registers this toolchain: with any toolchain for C++ beside it,
# it compiles what `rocm_library` declares.
alias(
    name = "toolchain-linux-x86_64",
    actual = "%{toolchain}",
    visibility = ["//visibility:public"],
)
