"""Reads the GPU targets of packages: each name is a target, or a family that stands for several."""

load("//lib/gpus:gpu_table.bzl", "FAMILIES")
load("//rules/shared:names.bzl", "shown", "written")

visibility(["//rules/private/..."])

TARGETS_ATTR = {
    "targets": attr.string_list_dict(mandatory = True, allow_empty = False, doc = "Name of each package -> its GPU targets: LLVM target IDs (`gfx90a`, `gfx942:xnack+`). A family stands for its members."),
}

def members_of_packages(ctx):
    """Returns the targets of each package, families as their members; fails for a package without any.

    Args:
        ctx: context of a rule with the attributes of TARGETS_ATTR.

    Returns:
        dict of string to list of string.
    """
    for name, targets in ctx.attr.targets.items():
        if not targets:
            fail("{}: targets: {} has no GPU targets; expected at least one".format(shown(written(ctx)), name))
    return {
        name: {member: None for target in targets for member in FAMILIES.get(target, [target])}.keys()
        for name, targets in ctx.attr.targets.items()
    }
