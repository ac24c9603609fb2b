"""HipToolchainInfo: the compiler of HIP programs, and for which GPUs it compiles."""

visibility(["//rules/private/hip"])

HipToolchainInfo = provider(
    doc = "A compiler of HIP programs, out of an SDK.",
    fields = {
        "bundler": "File: clang-offload-bundler.",
        "clang": "File: the compiler.",
        "compile": "PyToolInfo of the program that runs compilations, and checks what they include.",
        "device_libraries": "string: directory of the device libraries, relative to the execution root.",
        "environment": "dict: environment of every action.",
        "files": "depset of File: what the programs read: their libraries, the compiler's headers, the device libraries.",
        "lld": "File: the linker of device code.",
        "resource_directory": "string: clang's resource directory, relative to the execution root.",
        "root": "string: the SDK's install prefix, relative to the execution root.",
        "runtime": "CcInfo of the HIP runtime: every HIP program is compiled and linked with it.",
        "targets": "list of string: GPU targets to compile for, such as `gfx942` or `gfx90a:xnack+`.",
    },
)
