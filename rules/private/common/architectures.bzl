"""What packages for GPUs are for: architectures, of which families are short for several."""

load("//rules/private/common:providers.bzl", "GpuArchitecturesInfo")
load("//rules/shared:labels.bzl", "shown", "written")

visibility(["//rules/private/..."])

# Of a rule whose tool asks what the names of architectures mean: see add_architectures.
ARCHITECTURES_ATTR = {
    "architectures": attr.label(default = "//rules/private/common:amd_gpus", providers = [GpuArchitecturesInfo], doc = "The `sdk_gpu_architectures` that the targets are from. The default is AMD's table."),
}

ARCHITECTURES_ATTRS = ARCHITECTURES_ATTR | {
    "targets": attr.string_list_dict(mandatory = True, allow_empty = False, doc = "Name of each package -> its GPU targets: names of `architectures`, by default LLVM target IDs (`gfx90a`, `gfx942:xnack+`). A family stands for its members."),
}

def add_architectures(ctx, args):
    """Gives a tool the table of architectures; AMD's, which all tools know, has no file.

    Args:
        ctx: context of a rule with ARCHITECTURES_ATTR.
        args: Args, to which `--architectures` is added.

    Returns:
        list of File, for the action's inputs.
    """
    args.add_all(ctx.files.architectures, format_each = "--architectures=%s")
    return ctx.files.architectures

def members_of_packages(ctx):
    """Returns the targets of each package, families as their members; fails for what the table of architectures lacks.

    Args:
        ctx: context of a rule with the attributes of ARCHITECTURES_ATTRS.

    Returns:
        dict of string to list of string.
    """
    info = ctx.attr.architectures[GpuArchitecturesInfo]
    for name, targets in ctx.attr.targets.items():
        if not targets:
            fail("{}: targets: {} has no GPU targets; expected at least one".format(shown(written(ctx)), name))
        for target in targets if info.table else []:
            if target not in info.names and target not in info.families:
                fail("{}: targets: {} of {} is neither an architecture nor a family of {}; expected one of {}".format(
                    shown(written(ctx)),
                    target,
                    name,
                    shown(ctx.attr.architectures.label),
                    ", ".join(info.names + sorted(info.families)),
                ))
    return {
        name: {member: None for target in targets for member in info.families.get(target, [target])}.keys()
        for name, targets in ctx.attr.targets.items()
    }
