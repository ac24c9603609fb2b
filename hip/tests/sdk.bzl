"""The SDK of empty files that analysis tests compile HIP with, and the setting that says for which GPUs."""

visibility("private")

HIP_SDK = {"//command_line_option:extra_toolchains": ["//hip/tests/sdk:hip_toolchain"]}
HIP_TARGETS = str(Label("//hip/tests/sdk:targets"))
