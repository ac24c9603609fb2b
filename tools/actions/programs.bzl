"""The programs behind actions, one folder each, and what their modules import. What many actions start imports little."""

visibility(["//tools/actions"])

PROGRAMS = {
    "coverage": [":plan", "//lib/device:coverage"],
    "describe": ["//lib/common"],
    "index": ["//lib/common", "//lib/gpus:paths", "//lib/index", "//lib/wheel:variants"],
    "inspect": ["//lib/common", "//lib/device:library", "//lib/elf:library", "//lib/gpus:families", "//lib/pe:reading"],
    "layer": ["//lib/common", "//lib/deflate", "//lib/elf:reading", "//lib/wheel", "//lib/wheel:devel_tree"],
    "link": [":platform_tag", "//lib/common", "//lib/deflate", "//lib/pack:packed_tree", "//lib/pack:segment", "//lib/plan", "//lib/wheel"],
    "material": ["//lib/common", "//lib/provenance"],
    "pack": ["//lib/common", "//lib/pack", "//lib/pack:segment", "//lib/plan:edits"],
    "plan": ["//lib/common", "//lib/elf:reading", "//lib/gpus:paths", "//lib/plan", "//lib/plan:edits"],
    "platform_tag": [":plan", "//lib/common", "//lib/wheel:platform_policy"],
    "runtime": ["//lib/common", "//lib/plan"],
    "sbom": [":link", "//lib/common", "//lib/pack:segment", "//lib/plan", "//lib/wheel:reading", "@pypi//cyclonedx_python_lib", "@pypi//packaging"],
    "sdist": ["//lib/common", "//lib/wheel"],
    "statement": ["//lib/common", "//lib/provenance"],
    "static_wheel": ["//lib/common", "//lib/wheel:variants", "//lib/wheel", "@pypi//packaging"],
}
