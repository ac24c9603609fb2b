"""The matrix: what packages are built for. Platform, layout, GPU targets and kind of version, as data.

Each value is a `--config` of its name: `bazel build --config=nightly --config=gfx110X-all //packaging:all_wheels`.
`.bazelrc` has them from `matrix.bazelrc`, which is written from this file: `bazel run //tests/golden:update`.
"""

load("//rules:providers.bzl", "KINDS")

visibility(["//packaging", "//tests/..."])

# Families of GPU targets that are built together. Each target that ROCm's builds make code for is in one of them.
_FAMILIES = [
    "gfx101X-dgpu",
    "gfx103X-all",
    "gfx103X-dgpu",
    "gfx110X-all",
    "gfx115X-all",
    "gfx120X-all",
    "gfx125X",
    "gfx900-dgpu",
    "gfx906-dgpu",
    "gfx908-dcgpu",
    "gfx90X-dcgpu",
    "gfx90a-dcgpu",
    "gfx90c-igpu",
    "gfx94X-dcgpu",
    "gfx950-dcgpu",
]

# How artifacts are laid out, and so packages. Artifacts are `family` or `split`, and the option says which is expected;
# `thin` makes packages of single GPU targets out of artifacts that are `family`.
LAYOUTS = ["family", "split", "thin"]

_PLATFORMS = ["linux_aarch64", "linux_x86_64"]

# Dimension -> its values -> the options that make it so. A dimension that is left out is as options outside of the
# matrix say: the machine itself, the layout that the artifacts have, all their targets, a dev version.
MATRIX = {
    "platform": {
        platform: ["--platforms=//:" + platform, "--//packaging:platform_tag=" + platform]
        for platform in _PLATFORMS
    },
    "layout": {layout: ["--repo_env=ROCM_LAYOUT=" + layout] for layout in LAYOUTS},
    "targets": {family: ["--repo_env=ROCM_TARGETS=" + family] for family in _FAMILIES},
    "version": {kind: ["--//packaging:version_kind=" + kind] for kind in KINDS},
}

def combinations(matrix):
    """Returns every choice of one value from each dimension.

    Args:
        matrix: dict like MATRIX.

    Returns:
        list of dict, dimension -> value.
    """
    chosen = [{}]
    for dimension, values in matrix.items():
        chosen = [choice | {dimension: value} for choice in chosen for value in values]
    return chosen
