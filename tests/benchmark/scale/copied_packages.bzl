"""copied_packages: the packages of copied artifacts, so that the benchmark can see how cost grows with the input."""

load("@rocm_artifacts//:artifacts.bzl", "ARTIFACTS", "DIST_TARGETS", "SPLIT")
load("//packaging:rocm_packages.bzl", "rocm_packages")

visibility(["//tests/benchmark/scale/..."])

def copied_packages(name, prefix):
    """Declares the packages of the artifacts whose names begin with a prefix, as if they had it not.

    Args:
        name: what the names of all targets begin with; may be empty.
        prefix: e.g. `copy1-`. If no artifact has it (only the benchmark makes such ones), `all_wheels` is empty.
    """
    artifacts = [
        struct(
            name = artifact.name.removeprefix(prefix),
            component = artifact.component,
            target = artifact.target,
            label = artifact.label,
        )
        for artifact in ARTIFACTS
        if artifact.name.startswith(prefix)
    ]
    if artifacts:
        rocm_packages(name = name, artifacts = artifacts, dist_targets = DIST_TARGETS, split = SPLIT)
    else:
        native.filegroup(name = name + "all_wheels", srcs = [])
